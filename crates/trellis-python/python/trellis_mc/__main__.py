"""The command line: `trellis`, or `python3 -m trellis_mc`; with `--python FILE`, which the program alone cannot do."""

import sys

from . import _native


def main() -> None:
    """Runs the command line of this process."""
    sys.exit(_native.run(["trellis", *sys.argv[1:]]))


if __name__ == "__main__":
    main()

"""The tool-info module beside the real program: `python3 -m pytest bench/benchexec` (needs benchexec; TRELLIS names the program)."""

import os
import pathlib
import subprocess
import sys
import unittest

try:
    import benchexec.tooladapter
    import benchexec.util
    from benchexec.tools.template import BaseTool2
except ImportError:
    sys.exit(print("benchexec is not installed: skipped") or 0)

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import trellis

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("TRELLIS", str(ROOT / "target/release/trellis"))


class Calls(unittest.TestCase):
    def answer(self, model, prop=None, options=()):
        tool = trellis.Tool()
        task = BaseTool2.Task.with_files([str(ROOT / model)], property_file=prop, options=None)
        limits = BaseTool2.ResourceLimits(cputime=60, memory=2 * 2**30)
        command = tool.cmdline(PROGRAM, list(options), task, limits)
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = BaseTool2.RunOutput(ended.stdout.splitlines(keepends=True))
        code = benchexec.util.ProcessExitCode.create(value=ended.returncode)
        run = BaseTool2.Run(command, code, lines, None)
        return tool.determine_result(run), tool.get_value_from_output(lines, "stored")

    def test_verdicts(self):
        self.assertEqual(self.answer("models/c/lock.c")[0], "true")
        self.assertEqual(self.answer("models/c/overflow.c")[0], "false")
        self.assertEqual(self.answer("models/lattice/leader.xml"), ("true", "2"))
        self.assertEqual(self.answer("README.md")[0], "ERROR (input)")
        self.assertIn(self.answer("models/c/lock.c", options=["--states", "1", "--engine", "explicit"])[0], ("unknown", "true"))

    def test_it_is_a_tool(self):
        tool = trellis.Tool()
        self.assertIsInstance(tool, BaseTool2)
        self.assertRegex(tool.version(PROGRAM), r"^\d+\.\d+\.\d+")


if __name__ == "__main__":
    unittest.main()

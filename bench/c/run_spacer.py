#!/usr/bin/env python3
"""Runs Z3's Horn-clause engine Spacer (pip install z3-solver) on every .smt2 file in a folder, one process for each, on one thread.

Prints one line for each: task, answer (safe: the clauses can be satisfied; unsafe; unknown), seconds of processor time. Each has
60 seconds of the processor (or as many as the second argument says), however busy that is with other things.
"""

import pathlib
import resource
import subprocess
import sys


def one(path, limit):
    import z3

    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 2))
    z3.set_param("parallel.enable", False)
    solver = z3.SolverFor("HORN")
    solver.from_file(path)
    print({"sat": "safe", "unsat": "unsafe"}.get(str(solver.check()), "unknown"))


def main():
    folder = pathlib.Path(sys.argv[1])
    limit = sys.argv[2] if len(sys.argv) > 2 else "60"
    import z3

    print(f"# Spacer in Z3 {z3.get_version_string()}, through its Python library, {limit} seconds")
    for path in sorted(folder.glob("*.smt2")):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run(
            [sys.executable, __file__, "--one", str(path), limit], capture_output=True, text=True, check=False
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        said = run.stdout.strip() or "unknown"
        print(f"{path.stem}\t{said}\t{seconds:.2f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        one(sys.argv[2], int(sys.argv[3]))
    else:
        main()

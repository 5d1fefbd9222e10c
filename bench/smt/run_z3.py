#!/usr/bin/env python3
"""Runs Z3's library (pip install z3-solver) on every .smt2 file below a folder, one after another, on one thread.

Prints one line for each: family (the file's folder), name, answer, seconds of processor time for reading the file and
checking it, and for checking alone. Each problem has a context of its own and at most 10 seconds of the processor, however
busy that is with other things.
"""

import pathlib
import sys
import threading
import time

import z3

LIMIT = 10


def run(path):
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    done = threading.Event()
    start = time.process_time()

    def watch():
        while not done.wait(0.1):
            if time.process_time() - start > LIMIT:
                context.interrupt()

    threading.Thread(target=watch, daemon=True).start()
    solver.from_file(str(path))
    read = time.process_time()
    answer = solver.check()
    end = time.process_time()
    done.set()
    return answer, end - start, end - read


def main():
    folder = pathlib.Path(sys.argv[1])
    z3.set_param("parallel.enable", False)
    print(f"# Z3 {z3.get_version_string()}, through its Python library")
    for path in sorted(folder.rglob("*.smt2")):
        answer, whole, check = run(path)
        family = path.parent.relative_to(folder)
        print(f"{family}\t{path.stem}\t{answer}\t{whole:.6f}\t{check:.6f}", flush=True)


if __name__ == "__main__":
    main()

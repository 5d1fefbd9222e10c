"""The solver, and formulas."""

from __future__ import annotations

from typing import List, Optional

from . import _native


def ltl2hoa(formula: str, acceptance: str = "generalised", dot: bool = False) -> str:
    """The automaton of a formula of linear temporal logic, in the Hanoi format (or drawn, in the dot language).

    `acceptance` is `generalised`, `transition` or `state`.

    >>> ltl2hoa("G(a -> F b)").splitlines()[0]
    'HOA: v1'
    """
    return _native.ltl2hoa(formula, acceptance, dot)


class Solver:
    """Satisfiability, in SMT-LIB: integers, reals, bit vectors, truth values.

    >>> s = Solver()
    >>> s.declare("x", "Int").add("(> x 3)", "(< (* 2 x) 9)").check()
    'sat'
    >>> s.value("x")
    '4'
    >>> s.push().add("(> x 4)").check()
    'unsat'
    >>> s.pop().check()
    'sat'

    Each `check` runs the whole script anew: what is asked here is small. `solver` is `embedded`, or a program that speaks SMT-LIB.
    """

    def __init__(self, logic: str = "ALL", solver: str = "embedded", timeout: Optional[float] = None) -> None:
        self.solver = solver
        self.timeout = timeout
        self._levels: List[List[str]] = [[f"(set-logic {logic})", "(set-option :produce-models true)"]]

    def declare(self, name: str, sort: str = "Int") -> "Solver":
        """Declares a constant."""
        self._levels[-1].append(f"(declare-const {name} {sort})")
        return self

    def add(self, *assertions: str) -> "Solver":
        """Asserts."""
        self._levels[-1] += [f"(assert {a})" for a in assertions]
        return self

    def push(self) -> "Solver":
        """Begins a level."""
        self._levels.append([])
        return self

    def pop(self) -> "Solver":
        """Forgets the last level."""
        if len(self._levels) == 1:
            raise _native.UsageError("there is no level to be forgotten")
        self._levels.pop()
        return self

    @property
    def script(self) -> str:
        """All that has been said, as SMT-LIB."""
        return "\n".join(line for level in self._levels for line in level)

    def check(self) -> str:
        """`sat`, `unsat` or `unknown`."""
        return self.run(self.script + "\n(check-sat)").strip().splitlines()[-1]

    def value(self, term: str) -> str:
        """The value of a term, if what was asserted is satisfiable."""
        answer = self.run(self.script + f"\n(check-sat)\n(get-value ({term}))").strip()
        word, _, rest = answer.partition("\n")
        if word != "sat":
            raise _native.Error(f"there is no value: {answer}")
        inner = rest.strip()[2:-2].strip()
        return inner[len(term):].strip() if inner.startswith(term) else inner

    def run(self, script: str) -> str:
        """Runs an SMT-LIB script: what it prints."""
        return _native.smt(script, self.solver, self.timeout)

"""Models built in Python.

A system is a list of automata with variables, clocks and lattice variables. It is written as UPPAAL's text format, and read as a file would be: what it means is
what that file means, and `str(system)` shows it.

>>> import trellis_mc as tr
>>> s = tr.System()
>>> x, n = s.clock("x"), s.int("n", 0, 0, 3)
>>> gate = s.automaton("Gate")
>>> gate.location("Open").location("Shut", invariant=f"{x} <= 5")
Automaton Gate
>>> gate.edge("Open", "Shut", guard=f"{n} < 3", update=f"{x} = 0, {n} = {n} + 1")
Automaton Gate
>>> gate.edge("Shut", "Open", guard=f"{x} >= 2")
Automaton Gate
>>> s.check("A[] not (Gate.Shut and x > 5)", "E<> n == 3")
[<Report SAFE A[] not (Gate.Shut and x > 5)>, <Report HOLDS E<> n == 3>]
"""

from __future__ import annotations

import re
from typing import Any, Callable, List, Mapping, Optional, Union

from ._native import UsageError
from .model import Model, loads

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def _name(name: str) -> str:
    if not _NAME.match(name):
        raise UsageError(f"{name!r} is no name: letters, digits and _")
    return name


class Automaton:
    """A process: locations and edges. The first location is the initial one, if none is said to be."""

    def __init__(self, name: str) -> None:
        self.name = _name(name)
        self._locals: List[str] = []
        self._locations: List[str] = []
        self._states: List[str] = []
        self._special: Mapping[str, List[str]] = {"commit": [], "urgent": []}
        self._initial: Optional[str] = None
        self._edges: List[str] = []

    def __repr__(self) -> str:
        return f"Automaton {self.name}"

    def declare(self, text: str) -> "Automaton":
        """Declarations of its own, in UPPAAL's words: `"int n = 0; clock y;"`."""
        self._locals.append(text)
        return self

    def location(
        self, name: str, invariant: Optional[str] = None, initial: bool = False, committed: bool = False, urgent: bool = False
    ) -> "Automaton":
        """A location."""
        if _name(name) in self._locations:
            raise UsageError(f"{self.name} has two locations {name!r}")
        self._locations.append(name)
        self._states.append(f"{name} {{ {invariant} }}" if invariant else name)
        if initial:
            self._initial = name
        if committed:
            self._special["commit"].append(name)
        if urgent:
            self._special["urgent"].append(name)
        return self

    def edge(
        self,
        source: str,
        target: str,
        guard: Optional[str] = None,
        sync: Optional[str] = None,
        update: Optional[str] = None,
        select: Optional[str] = None,
    ) -> "Automaton":
        """An edge; `sync` is `"c!"` or `"c?"`, `select` `"i : int[0, 3]"`."""
        for name in (source, target):
            if name not in self._locations:
                raise UsageError(f"{self.name} has no location {name!r}; it has {', '.join(self._locations) or 'none'}")
        parts = [("select", select), ("guard", guard), ("sync", sync), ("assign", update)]
        body = " ".join(f"{word} {text};" for word, text in parts if text)
        self._edges.append(f"{source} -> {target} {{ {body} }}")
        return self

    def __str__(self) -> str:
        if not self._locations:
            raise UsageError(f"{self.name} has no location")
        lines = [f"process {self.name}() {{", *self._locals, f"state {', '.join(self._states)};"]
        lines += [f"{word} {', '.join(names)};" for word, names in self._special.items() if names]
        lines.append(f"init {self._initial or self._locations[0]};")
        if self._edges:
            lines.append("trans\n  " + ",\n  ".join(self._edges) + ";")
        return "\n".join(lines + ["}"])


class System:
    """Automata, and what they share."""

    def __init__(self) -> None:
        self._declarations: List[str] = []
        self._automata: List[Automaton] = []
        self._lattices: List[type] = []

    def declare(self, text: str) -> "System":
        """Declarations in UPPAAL's words."""
        self._declarations.append(text)
        return self

    def int(self, name: str, value: int = 0, low: Optional[int] = None, high: Optional[int] = None) -> str:
        """An integer variable; answers its name."""
        kind = "int" if low is None and high is None else f"int[{-32768 if low is None else low}, {32767 if high is None else high}]"
        self._declarations.append(f"{kind} {_name(name)} = {value};")
        return name

    def bool(self, name: str, value: bool = False) -> str:
        """A truth value; answers its name."""
        self._declarations.append(f"bool {_name(name)} = {'true' if value else 'false'};")
        return name

    def clock(self, name: str) -> str:
        """A clock; answers its name."""
        self._declarations.append(f"clock {_name(name)};")
        return name

    def channel(self, name: str, broadcast: bool = False, urgent: bool = False) -> str:
        """A channel; answers its name."""
        words = ("urgent " if urgent else "") + ("broadcast " if broadcast else "")
        self._declarations.append(f"{words}chan {_name(name)};")
        return name

    def lattice(self, name: str, of: Union[str, type], size: Optional[int] = None) -> str:
        """A lattice variable: of a lattice of the library, by its name, or of a class of your own. Answers its name."""
        kind = of if isinstance(of, str) else of.__name__
        extern = f"extern {kind};"
        if extern not in self._declarations:
            self._declarations.append(extern)
        if not isinstance(of, str) and of not in self._lattices:
            self._lattices.append(of)
        self._declarations.append(f"{kind} {_name(name)}{'' if size is None else f'[{size}]'};")
        return name

    def automaton(self, name: str) -> Automaton:
        """A new automaton, which is part of the system."""
        if any(a.name == name for a in self._automata):
            raise UsageError(f"there are two automata {name!r}")
        self._automata.append(Automaton(name))
        return self._automata[-1]

    def __str__(self) -> str:
        if not self._automata:
            raise UsageError("the system has no automaton")
        processes = "\n".join(map(str, self._automata))
        return "\n".join(self._declarations) + f"\n{processes}\nsystem {', '.join(a.name for a in self._automata)};\n"

    def model(self, join: Optional[Callable[[Any, Any], bool]] = None) -> Model:
        """The model, read as a file would be."""
        return loads(str(self), "system.xta", lattices=self._lattices, join=join)

    def check(self, *properties: str, **options: Any) -> List[Any]:
        """`Model.check`."""
        return self.model().check(*properties, **options)

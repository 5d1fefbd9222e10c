"""Lattices as Python classes, and joining strategies as Python functions.

A lattice is an ordinary class: `__init__(self, size)` makes the element that a variable has at first (`size` is what the model declares, 8 in
`extern Bits; Bits x[8];`, else 1), `__le__` (or `leq`) is the ordering, `join` the least upper bound. What else is public are methods that a model's guards
and updates call.

>>> import trellis_mc as tr
>>> class Range:
...     def __init__(self, size=1):
...         self.lo = self.hi = 0
...     def __le__(self, other):
...         return other.lo <= self.lo and self.hi <= other.hi
...     def join(self, other):
...         self.lo, self.hi = min(self.lo, other.lo), max(self.hi, other.hi)
...     @tr.query("up")
...     def may_be(self, v):
...         return self.lo <= v <= self.hi
...     @tr.update("up")
...     def inc(self):
...         self.lo, self.hi = min(self.lo + 1, 9), min(self.hi + 1, 9)
>>> _ = tr.check_lattice(Range)
>>> model = tr.loads('''
... extern Range; Range x;
... process P() { state A, B; init A; trans A -> A { assign x.inc(); }, A -> B { guard x.may_be(12); }; }
... system P;''', lattices=[Range])
>>> model.check("A[] not P.B")[0].verdict
'SAFE'

What an element consists of is read off the object that `__init__` makes: its attributes, each an integer, a truth value, or a list of those whose length
stays. Two elements are the same if their attributes are, so a set must be written in one way only. `join` and updates may change `self` (they get
a copy), or return a new element; the ordering and queries must leave it as it is.

Optional: `bottom` and `top` (functions that make an element; `bottom` is added if it is missing), `meet`, `sample(random)` (some element, for the audit;
a static method that gets a `random.Random`), `__str__`, `names` (names that a model may write for 0, 1, …), and `__getitem__` with `__setitem__` and
`__len__`, so that a model may write `x[3]`.

`query` and `update` mark methods, and say how they move when the element grows: `"up"` (a larger element gives a larger or equal number, or element), `"down"`,
or nothing. A proof that a model is monotone rests on marks. Without a decorator, annotations (`-> bool`, `-> None`) or a trial call tell which of the
two a method is.

Classes are audited as Lua scripts are: elements are drawn, and the laws and marks tried on them, whenever a model uses the class.

A joining strategy is a function of two states: `def join(x, y): return x.table.num0s() + y.table.num0s() < 8`. `x.user` is a variable, `x.location("DB")` the name
of the location of a process, `x["DB.n"]` a variable of one.

Python code is your own: other than Lua scripts it runs without limits, and is trusted to depend on its arguments alone.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import random as _random
import sys
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from . import _native
from ._native import InputError

_RESERVED = {"join", "leq", "meet", "bottom", "top", "sample", "show", "names", "marks"}
_MARKS = ("up", "down", "none")


def _marked(kind: str, mark: Any) -> Any:
    def mark_as(function: Callable, how: str) -> Callable:
        if how not in _MARKS:
            raise InputError(f"a mark is one of {', '.join(_MARKS)}, not {how!r}")
        function._trellis = (kind, how)  # type: ignore[attr-defined]
        return function

    if callable(mark):
        return mark_as(mark, "none")
    return lambda function: mark_as(function, mark)


def query(mark: Any = "none") -> Any:
    """Marks a method that a guard may call; `query("up")` says that larger elements give larger or equal numbers."""
    return _marked("query", mark)


def update(mark: Any = "none") -> Any:
    """Marks a method that an update may call; `update("up")` says that larger elements become larger or equal elements."""
    return _marked("update", mark)


def check_lattice(cls: type, size: int = 1, samples: int = 64, seed: int = 1) -> str:
    """Is this class a lattice? Tries the laws and the marks on elements that are drawn; what was tried, in words.

    >>> class Wrong:
    ...     def __init__(self, size=1): self.n = 0
    ...     def __le__(self, other): return self.n <= other.n
    ...     def join(self, other): self.n = min(self.n, other.n)
    ...     @update
    ...     def add(self, v): self.n += v
    >>> check_lattice(Wrong)
    Traceback (most recent call last):
        ...
    trellis_mc.InputError: ...
    """
    return _native.audit(as_lattices([cls])[0], size, samples, seed)


def as_lattices(classes: Iterable[type]) -> List[Any]:
    """Classes as the native half takes them."""
    return [_native.Lattice(c.__name__, *_source(c), _Spec(c)) for c in classes]


def as_join(join: Optional[Callable]) -> Optional[Tuple[str, str, Callable]]:
    """A joining strategy as the native half takes it."""
    return None if join is None else (*_source(join), join)


def load_file(path: Any) -> Tuple[List[Any], Optional[Tuple[str, str, Callable]]]:
    """What a file brings along: classes with `join` and an ordering, and a function `join`, if there is one."""
    path = os.fspath(path)
    name = "_trellis_" + hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:12]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is not a file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    mine = [v for v in vars(module).values() if inspect.isclass(v) and v.__module__ == name]
    join = vars(module).get("join")
    lattices = [c for c in mine if _function(c, "join", "__or__") and _function(c, "__le__", "leq")]
    if not lattices and not callable(join):
        raise InputError(f"{path} has neither a class with `join` and `__le__`, nor a function `join(x, y)`")
    return as_lattices(lattices), as_join(join if callable(join) else None)


def _source(what: Any) -> Tuple[str, str]:
    """The file of a class or function, and its text, to which evidence is bound."""
    try:
        file = inspect.getsourcefile(what) or what.__name__
    except TypeError:
        file = what.__name__
    if os.path.isfile(file):
        with open(file, encoding="utf-8") as source:
            return file, source.read()
    try:
        return what.__name__, inspect.getsource(what)
    except (OSError, TypeError):
        code = [f.__code__ for f in [what, *vars(what).values()] if inspect.isfunction(f)] if inspect.isclass(what) else [what.__code__]
        return what.__name__, repr([(c.co_name, c.co_code, c.co_names, [k for k in c.co_consts if not inspect.iscode(k)]) for c in code])


def _function(cls: type, *names: str) -> Optional[Callable]:
    for name in names:
        for base in cls.__mro__:
            if base is not object and name in vars(base):
                return getattr(cls, name)
    return None


def _sized(function: Callable, size: int, *before: Any) -> Any:
    """Calls what may or may not want the size."""
    try:
        inspect.signature(function).bind(*before, size)
    except TypeError:
        return function(*before)
    return function(*before, size)


class _Spec:
    """What a class is as a lattice, for each size."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def __call__(self, size: int) -> Dict[str, Any]:
        cls = self.cls
        first = _sized(cls, size)
        leq, join = _function(cls, "__le__", "leq"), _function(cls, "join", "__or__")
        if leq is None or join is None:
            missing = "an ordering, `__le__(self, other)`" if leq is None else "`join(self, other)`"
            raise InputError(f"{cls.__name__} is no lattice: it lacks {missing}")
        meet, top = _function(cls, "meet"), self._made("top", first, size)
        bottom = self._made("bottom", first, size)
        if (meet is None) != (top is None) or (meet is not None and bottom is None):
            raise InputError(f"{cls.__name__}: a lattice with `meet` or `top` has both, and `bottom`")
        sample = _function(cls, "sample")
        methods = self._methods(first, size)
        bits = None
        if all(_function(cls, name) for name in ("__getitem__", "__setitem__", "__len__")):
            bits = len(first)  # type: ignore[arg-type]
            taken = {name for name, *_ in methods}
            at: List[Tuple[str, str, int, str, Callable]] = []
            for name, kind, args, function in (("get", "query", 1, cls.__getitem__), ("set", "update", 2, cls.__setitem__)):  # type: ignore[attr-defined]
                mark = getattr(function, "_trellis", (kind, "none"))[1]
                if name in taken:
                    raise InputError(f"{cls.__name__}: `x[i]` is `{name}`, so there can be no method of that name")
                at.append((name, kind, args, mark, function))
            methods = at + methods
        return {
            "class": cls, "fields": _fields(cls, first), "initial": first, "bottom": bottom, "top": top, "leq": leq, "join": join,
            "meet": meet, "show": _function(cls, "__str__", "show"), "methods": methods, "bits": bits,
            "names": list(getattr(cls, "names", [])),
            "sample": None if sample is None else lambda seed: _sized(sample, size, _random.Random(seed)),
        }

    def _made(self, name: str, first: Any, size: int) -> Any:
        """An element that a class method, static method or method makes."""
        if _function(self.cls, name) is None:
            return None
        static = inspect.getattr_static(self.cls, name)
        if isinstance(static, (staticmethod, classmethod)):
            return _sized(getattr(self.cls, name), size)
        if inspect.isfunction(static):
            return _sized(static, size, first)
        return static

    def _methods(self, first: Any, size: int) -> List[Tuple[str, str, int, str, Callable]]:
        found = []
        for name, function in inspect.getmembers(self.cls, inspect.isfunction):
            if name.startswith("_") or name in _RESERVED or isinstance(inspect.getattr_static(self.cls, name), staticmethod):
                continue
            parameters = list(inspect.signature(function).parameters.values())[1:]
            if any(p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters):
                raise InputError(f"{self.cls.__name__}.{name} must take a fixed number of integers")
            kind, mark = getattr(function, "_trellis", (None, None))
            if kind is None:
                kind = self._kind(name, function, len(parameters), size)
            mark = mark or getattr(self.cls, "marks", {}).get(name, "none")
            found.append((name, kind, len(parameters), mark, function))
        return found

    def _kind(self, name: str, function: Callable, args: int, size: int) -> str:
        returns = inspect.signature(function).return_annotation
        if returns in (None, "None"):
            return "update"
        if returns in (bool, int, "bool", "int"):
            return "query"
        try:
            answer = function(_sized(self.cls, size), *[0] * args)
        except Exception as error:
            raise InputError(
                f"{self.cls.__name__}.{name}: is it called in guards or in updates? Decorate it with @query or @update"
            ) from error
        return "query" if isinstance(answer, int) else "update"


def _fields(cls: type, first: Any) -> List[Tuple[str, str, int]]:
    slots = [s for base in reversed(cls.__mro__) for s in getattr(base, "__slots__", ())]
    names = [s for s in slots if hasattr(first, s)] + list(getattr(first, "__dict__", {}))
    if not names:
        raise InputError(f"{cls.__name__}: an element has no attributes; `__init__` must set what it consists of")
    fields = []
    for name in names:
        value = getattr(first, name)
        if isinstance(value, bool):
            fields.append((name, "bool", 1))
        elif isinstance(value, int):
            fields.append((name, "int", 1))
        elif isinstance(value, list) and all(isinstance(v, int) for v in value):
            truth = bool(value) and all(isinstance(v, bool) for v in value)
            fields.append((name, "bools" if truth else "ints", len(value)))
        else:
            raise InputError(
                f"{cls.__name__}: `{name}` is {value!r}; an element consists of integers, truth values, and lists of those whose length "
                "stays (a set of few things is a list of truth values)"
            )
    return fields

"""Models: reading them, checking them, walking through them."""

from __future__ import annotations

import os
from typing import Any, Callable, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native
from .lattice import as_join, as_lattices
from .report import Report
from .stepper import Stepper

#: What is told of progress: for each runner its name, how many states it has added, and how many wait.
Progress = Callable[[List[Tuple[str, int, int]]], None]


class Property:
    """A question about a model. `Model.property`, `Model.never` and `Model.ltl` make one; `str` shows it."""

    def __init__(self, native: Any) -> None:
        self._native = native

    def __str__(self) -> str:
        return str(self._native)

    def __repr__(self) -> str:
        return f"<Property {self}>"


def open(
    path: Union[str, os.PathLike],
    const: Optional[Mapping[str, int]] = None,
    lattices: Iterable[type] = (),
    join: Optional[Callable[[Any, Any], bool]] = None,
) -> "Model":
    """Opens a model in any language that Trellis reads.

    `const` sets constants of the model. `lattices` are classes for the names that the model declares with `extern`, `join` is a joining
    strategy: see `trellis_mc.lattice`.
    """
    return Model(_native.Model.open(os.fspath(path), None, list((const or {}).items()), as_lattices(lattices), as_join(join)))


def loads(
    text: str,
    name: str = "model.xta",
    const: Optional[Mapping[str, int]] = None,
    lattices: Iterable[type] = (),
    join: Optional[Callable[[Any, Any], bool]] = None,
) -> "Model":
    """Reads a model from a text; the name says which language it is in.

    >>> loads("vars free held rules held >= 1 -> held' = held - 1;", name="lock.spec")
    Traceback (most recent call last):
        ...
    trellis_mc.InputError: ...
    """
    return Model(_native.Model.open(name, text, list((const or {}).items()), as_lattices(lattices), as_join(join)))


class Model:
    """A model that has been read.

    >>> model = loads("process P() { state A, B; init A; trans A -> B { }; } system P;")
    >>> model.language
    'uppaal'
    >>> model.check("A[] not P.B")[0].holds
    False
    """

    def __init__(self, native: Any) -> None:
        self._native = native

    def __repr__(self) -> str:
        return f"<Model {self.path}>"

    @property
    def path(self) -> str:
        """The file that it was read from."""
        return str(self._native.path())

    @property
    def language(self) -> str:
        """The language that it is written in: `uppaal`, `c`, `pnml`, …"""
        return self._native.language()

    def properties(self) -> List[Property]:
        """The questions that the file, or one beside it, asks."""
        return [Property(p) for p in self._native.properties()]

    def property(self, text: str) -> Property:
        """A question in the words of the command line's `--property`."""
        return Property(self._native.property("property", text))

    def never(self, text: str) -> Property:
        """What must never hold."""
        return Property(self._native.property("never", text))

    def ltl(self, text: str) -> Property:
        """A formula of linear temporal logic that all runs must satisfy."""
        return Property(self._native.property("ltl", text))

    def check(
        self,
        *properties: Union[str, Property],
        timeout: Union[None, int, float, str] = None,
        progress: Optional[Progress] = None,
        note: Optional[Callable[[str], None]] = None,
        evidence: bool = True,
        **options: Any,
    ) -> List[Report]:
        """Checks properties, the model's own if none is given: a list of reports.

        `timeout` is in seconds, or a text like `"5m"`, for each property. Any other option of `trellis check` is a keyword: `engine="lazy"`,
        `states=1000`, `non_zeno=True`, `join="x.n < 3"`; a list gives an option several times. `progress` is called now and then with
        what has been counted, `note` with notes and warnings. An exception in either ends the check, and so does Ctrl-C. The interpreter is
        free for other threads while the check runs. `evidence=False` saves the memory that traces and certificates take.

        >>> model = loads("process P() { state A, B; init A; trans A -> B { }; } system P;")
        >>> [r.verdict for r in model.check("A[] not P.B", "E<> P.B", order="dfs", timeout=60)]
        ['UNSAFE', 'HOLDS']
        >>> model.check("E<> P.B", engine="bmc")
        Traceback (most recent call last):
            ...
        trellis_mc.UsageError: ...
        """
        if timeout is not None:
            options["timeout"] = timeout if isinstance(timeout, str) else f"{timeout}s"
        asked: Sequence[Any] = [p if isinstance(p, Property) else self.property(p) for p in properties] or self.properties()
        if not asked:
            raise _native.UsageError("nothing is asked: the model has no property of its own; give one")
        given = list(_options(options))
        return [Report(self._native.check(p._native, given, progress, note, evidence), str(p)) for p in asked]

    def certify(self, property: Union[str, Property], evidence: Union[str, os.PathLike, bytes]) -> Tuple[str, str]:
        """Is evidence (a file, or its bytes) good for this property of this model?

        A word, `valid`, `rejected` or `undecided`, and why. Nothing is believed because it stands in the evidence.

        >>> model = loads("process P() { state A, B; init A; trans A -> B { }; } system P;")
        >>> trace = model.check("A[] not P.B")[0].trace
        >>> model.certify("A[] not P.B", trace.json)[0]
        'valid'
        """
        asked = property if isinstance(property, Property) else self.property(property)
        if isinstance(evidence, bytes):
            import tempfile

            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "evidence.json")
                with _builtin_open(path, "wb") as file:
                    file.write(evidence)
                return self._native.certify(asked._native, path)
        return self._native.certify(asked._native, os.fspath(evidence))

    def simulate(self) -> Stepper:
        """A walk through the model, one step after the other."""
        return Stepper(self._native.walk())


_builtin_open = __builtins__["open"] if isinstance(__builtins__, dict) else __builtins__.open


def _options(options: Mapping[str, Any]) -> Iterable[Tuple[str, Optional[str]]]:
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                yield flag, None
            elif one is not None and one is not False:
                yield flag, str(one)

"""What a check has found."""

from __future__ import annotations

import html as _html
import json
from collections.abc import Sequence as _Sequence
from typing import Any, Dict, Iterator, List, Optional


class Trace(_Sequence):
    """A run: a sequence of its steps, each a dictionary.

    A step has `label` (what happens), `set` (what has another value after it), `delay` (how much time passes before it, an exact number as a
    text), `parts` (what moves) and more, as in the JSON that `trellis check --trace` writes; what means nothing in a model is left out.

    >>> import trellis_mc as tr
    >>> model = tr.loads("process P() { state A, B; init A; trans A -> B { }; } system P;")
    >>> trace = model.check("A[] not P.B")[0].trace
    >>> len(trace), trace.states()
    (1, [{'P': 'A'}, {'P': 'B'}])
    """

    def __init__(self, run: Dict[str, Any], evidence: Optional[bytes]) -> None:
        self.run = run
        self.json = evidence

    @property
    def start(self) -> Dict[str, Any]:
        """The values of everything at the start."""
        return self.run["start"]

    @property
    def steps(self) -> List[Dict[str, Any]]:
        """The steps, in order."""
        return self.run["steps"]

    @property
    def loop(self) -> Optional[int]:
        """For a run that goes on forever: the number of the state to which the last step returns."""
        return self.run.get("loop")

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, at: Any) -> Any:
        return self.steps[at]

    def states(self) -> List[Dict[str, Any]]:
        """All values at each moment, the start first."""
        all_states = [dict(self.start)]
        for step in self.steps:
            all_states.append({**all_states[-1], **step["set"]})
        return all_states

    def to_pandas(self) -> Any:
        """A pandas frame: a row for each moment, a column for each value, and what was done to come there."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error
        frame = pandas.DataFrame(self.states())
        frame.insert(0, "step", [""] + [step["label"] for step in self.steps])
        if any("delay" in step for step in self.steps):
            frame.insert(1, "delay", ["0"] + [step.get("delay", "0") for step in self.steps])
        return frame

    def save(self, path: Any) -> None:
        """Writes it, for `certify`."""
        _save(self.json, path, "trace")

    def __repr__(self) -> str:
        return f"<Trace of {len(self)} step{'' if len(self) == 1 else 's'}>"


class Report:
    """What was found about a property.

    `verdict` is `SAFE` or `UNSAFE` (of what must not happen), `HOLDS` or `FAILS` (of what should be possible), `BOUND` or `UNKNOWN`; `holds` is
    whether the property holds, None if that is not known. Evidence has been checked again before anybody sees it.
    """

    def __init__(self, native: Any, property: str) -> None:
        self._native = native
        #: The property, as it was asked.
        self.property = property
        self.verdict: str = native.verdict
        self.holds: Optional[bool] = native.holds
        #: Why the verdict is UNKNOWN.
        self.reason: Optional[str] = native.reason
        #: Of `sup` and `inf`: the number, as a text.
        self.value: Optional[str] = native.value
        #: The certificate (JSON), if there is one.
        self.certificate: Optional[bytes] = native.certificate
        #: The run that shows the verdict, if there is one.
        self.trace: Optional[Trace] = Trace(json.loads(native.run), native.trace) if native.run else None

    @property
    def data(self) -> Dict[str, Any]:
        """The whole report as `trellis check --json` prints it."""
        return json.loads(self._native.json)

    @property
    def stats(self) -> Dict[str, Any]:
        """What was counted, and `seconds`."""
        data = self.data
        return {**data.get("statistics", {}), "seconds": data.get("seconds")}

    @property
    def engine(self) -> str:
        """How it was searched, in words."""
        return self.data.get("engine", "")

    @property
    def checked(self) -> Optional[str]:
        """What was done to check the evidence again."""
        return self.data.get("checked")

    @property
    def assumes(self) -> List[str]:
        """What the verdict rests on and nobody has checked."""
        return self.data.get("assumes", [])

    @property
    def html(self) -> str:
        """A page of its own, as `trellis check --html` writes it."""
        return self._native.html()

    def save(self, path: Any) -> None:
        """Writes the evidence, a trace or a certificate, for `certify`."""
        _save(self.trace.json if self.trace is not None else self.certificate, path, "evidence")

    def _repr_html_(self) -> str:
        head = f"<p><b>{self.verdict}</b> <code>{_html.escape(self.property)}</code></p>"
        if self.trace is None:
            return head + f"<pre>{_html.escape(str(self))}</pre>"
        page = _html.escape(self.html, quote=True)
        return head + f'<iframe srcdoc="{page}" style="width:100%;height:560px;border:1px solid #ccc"></iframe>'

    def __str__(self) -> str:
        return self._native.text

    def __repr__(self) -> str:
        return f"<Report {self.verdict} {self.property}>"

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a report is one answer; Model.check gives a list of them")


def _save(evidence: Optional[bytes], path: Any, what: str) -> None:
    if evidence is None:
        raise ValueError(f"there is no {what} to be saved")
    with open(path, "wb") as file:
        file.write(evidence)

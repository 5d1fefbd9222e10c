"""A walk through a model by its reference interpreter."""

from __future__ import annotations

import json
import random as _random
from typing import Any, Dict, List, Optional, Union

from ._native import UsageError
from .report import Trace


class Choice(Dict[str, Any]):
    """A step that can be taken: a dictionary like a trace's steps, and `number`, its position among what is enabled."""

    def __init__(self, number: int, step: Dict[str, Any]) -> None:
        super().__init__(step)
        self.number = number

    def __repr__(self) -> str:
        return f"<{self.number}: {self.get('label', '')}>"


class Stepper:
    """Steps through a model.

    >>> import trellis_mc as tr
    >>> walk = tr.loads("process P() { state A, B; init A; trans A -> B { }, B -> A { }; } system P;").simulate()
    >>> walk.state
    {'P': 'A'}
    >>> walk.take(walk.enabled()[0]).state
    {'P': 'B'}
    >>> walk.undo(), walk.state
    (True, {'P': 'A'})
    """

    def __init__(self, native: Any) -> None:
        self._native = native

    @property
    def state(self) -> Dict[str, Any]:
        """All values now."""
        return json.loads(self._native.state())

    def enabled(self) -> List[Choice]:
        """What can be done now: steps, or starts and values where the model leaves them open (`asks` says which)."""
        return [Choice(n, json.loads(text)) for n, text in enumerate(self._native.choices()[1])]

    def later(self) -> List[Dict[str, Any]]:
        """What is possible only after waiting: examples, with their `delay`."""
        return [json.loads(text) for text in self._native.choices()[2]]

    @property
    def asks(self) -> str:
        """What is to be chosen: `step`, `start`, or a name with its domain."""
        return self._native.choices()[0]

    @property
    def delay(self) -> Optional[str]:
        """How long time may pass now: `<= 3`, `forever`, …; None where time does not count."""
        return self._native.choices()[3]

    def take(self, choice: Union[int, Choice]) -> "Stepper":
        """Takes a step, by its number or as `enabled` gave it."""
        if isinstance(choice, Choice):
            now = self.enabled()
            if choice.number >= len(now) or dict(now[choice.number]) != dict(choice):
                raise UsageError(f"{choice!r} is not enabled here")
            choice = choice.number
        self._native.take(choice)
        return self

    def wait(self, delay: Any) -> "Stepper":
        """Lets time pass: a number, or a text like `5/2`."""
        self._native.wait(str(delay))
        return self

    def give(self, name: str, value: Any) -> "Stepper":
        """Gives something the value that the model leaves open."""
        self._native.input(name, str(value))
        return self

    def undo(self) -> bool:
        """Takes back what was done last; answers whether there was anything."""
        return self._native.undo()

    def random(self, steps: int = 1, seed: Optional[int] = None) -> int:
        """Takes steps at random; answers how many there were."""
        draw = _random.Random(seed)
        for n in range(steps):
            if not self._native.random(draw.getrandbits(63)):
                return n
        return steps

    @property
    def trace(self) -> Trace:
        """The walk so far."""
        return Trace(json.loads(self._native.run()), None)

    def replay(self, trace: Any) -> "Stepper":
        """Walks along a trace, which is taken anew step by step."""
        self._native.replay(trace.json.decode() if isinstance(trace, Trace) and trace.json else str(trace))
        return self

    @property
    def remark(self) -> Optional[str]:
        """What is to be known of this state: an error has been reached, a target is covered."""
        return self._native.remark()

    def __len__(self) -> int:
        return self._native.steps()

"""Trellis, a model checker: can something bad happen in a model?

It answers SAFE, UNSAFE or UNKNOWN, with a proof or a counterexample that it has checked itself.

>>> import trellis_mc as tr
>>> model = tr.loads('''
... process Lamp() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; }
... system Lamp;''')
>>> report = model.check("A[] not Lamp.Broken")[0]
>>> report.verdict, report.holds
('SAFE', True)
>>> report = model.check("A[] not Lamp.On")[0]
>>> report.verdict, [step["set"] for step in report.trace]
('UNSAFE', [{'Lamp': 'On'}])

`open` reads a file in any language that Trellis reads, `loads` a text; `Automaton` and `System` (module `trellis_mc.build`) make a model
piece by piece. `Model.check` checks, `Model.certify` looks at evidence again, `Model.simulate` walks. `query`, `update` and `check_lattice` are for
lattices of your own, which are ordinary classes; see `trellis_mc.lattice`.
"""

from ._native import Error, InputError, UsageError, __version__
from .build import Automaton, System
from .lattice import check_lattice, query, update
from .model import Model, Property, loads, open
from .report import Report, Trace
from .solver import Solver, ltl2hoa
from .stepper import Choice, Stepper

__all__ = [
    "Automaton", "Choice", "Error", "InputError", "Model", "Property", "Report", "Solver", "Stepper", "System", "Trace", "UsageError",
    "check_lattice", "loads", "ltl2hoa", "open", "query", "update", "__version__",
]

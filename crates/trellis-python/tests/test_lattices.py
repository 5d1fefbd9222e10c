"""Lattices and joining strategies in Python, beside those of the library and those in Lua."""

import importlib.util
import subprocess
import sys

import pytest
import trellis_mc as tr


def bits(models):
    spec = importlib.util.spec_from_file_location("bits", models / "lattice" / "bits.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Interval:
    """models/lattice/interval.lua, in Python."""

    def __init__(self):
        self.lo = self.hi = 0

    def __le__(self, other):
        return other.lo <= self.lo and self.hi <= other.hi

    def join(self, other):
        made = Interval()
        made.lo, made.hi = min(self.lo, other.lo), max(self.hi, other.hi)
        return made

    @tr.query("up")
    def may_be(self, v):
        return self.lo <= v <= self.hi

    @tr.update("up")
    def add(self, v):
        self.lo, self.hi = max(-9, min(9, self.lo + v)), max(-9, min(9, self.hi + v))


@pytest.mark.parametrize("users", [3, 4, 5])
def test_the_papers_lattice_counts_like_the_librarys(models, users):
    file, mine = models / "lattice" / "database-full.xml", bits(models)
    strategy = "x.aLogin.num0s() + y.aLogin.num0s() < N_USERS"
    for options in ({"update": "simple"}, {"update": "cover"}, {"join": "all"}, {"join": strategy}):
        ours = tr.open(file, const={"N_USERS": users}).check(assume="monotone", **options)[0]
        python = tr.open(file, const={"N_USERS": users}, lattices=[mine.IntersectionBitVector]).check(assume="monotone", **options)[0]
        assert ours.verdict == python.verdict, options
        assert ours.stats["added"] == python.stats["added"] and ours.stats["stored"] == python.stats["stored"], options


def test_a_naive_strategy_is_inconclusive_and_a_refined_one_is_not(models):
    file, mine = models / "lattice" / "database-full.xml", bits(models)
    naive = tr.open(file, join=lambda x, y: True).check(assume="monotone")[0]
    assert naive.verdict == "UNKNOWN"
    refined = tr.open(file, lattices=[mine.IntersectionBitVector], join=mine.join).check(assume="monotone")[0]
    text = tr.open(file).check(assume="monotone", join="x.aLogin.num0s() + y.aLogin.num0s() < N_USERS")[0]
    assert refined.verdict == text.verdict == "SAFE"
    assert refined.stats["added"] == text.stats["added"]


def test_evidence_is_bound_to_the_class(models):
    model = "extern Interval; Interval x; process P() { state A, B; init A; trans A -> A { assign x.add(1); }, A -> B { guard x.may_be(12); }; } system P;"
    report = tr.loads(model, lattices=[Interval]).check("A[] not P.B")[0]
    assert report.verdict == "SAFE" and report.certificate

    assert tr.loads(model, lattices=[Interval]).certify("A[] not P.B", report.certificate)[0] == "valid"


def test_what_is_no_lattice_is_refused():
    class Lossy(Interval):
        def join(self, other):
            return self

    with pytest.raises(tr.InputError):
        tr.check_lattice(Lossy)

    class Wrongly(Interval):
        @tr.query("down")
        def may_be(self, v):
            return self.lo <= v <= self.hi

    with pytest.raises(tr.InputError):
        tr.check_lattice(Wrongly)

    class Meddler(Interval):
        def __le__(self, other):
            self.lo -= 1
            return True

    with pytest.raises(tr.InputError, match="only may look at"):
        tr.check_lattice(Meddler)

    class NoJoin:
        def __init__(self):
            self.n = 0

    with pytest.raises(tr.InputError, match="lacks"):
        tr.check_lattice(NoJoin)

    class OfSets(Interval):
        def __init__(self):
            self.members = {1}

    with pytest.raises(tr.InputError, match="list of truth values"):
        tr.check_lattice(OfSets)


def test_errors_in_methods_have_lines():
    class Breaks(Interval):
        @tr.query
        def broken(self, v):
            return 1 // (v - v)

    model = "extern Breaks; Breaks x; process P() { state A, B; init A; trans A -> B { guard x.broken(1) == 0; }; } system P;"
    report = tr.loads(model, lattices=[Breaks]).check("A[] not P.B")[0]
    assert report.holds is None and "ZeroDivisionError" in str(report) and "test_lattices.py:" in str(report)


def test_a_strategy_sees_states_only_while_it_is_asked(models):
    kept = []

    def join(x, y):
        kept.append(x)
        return x.user == 0 and x.location("DB") in ("Idle", "Init") and x["user"] == x.user and x.aLogin[0] in (0, 1)

    tr.open(models / "lattice" / "database-full.xml", const={"N_USERS": 3}, join=join).check(assume="monotone")
    assert kept
    with pytest.raises(RuntimeError, match="only while"):
        kept[0].user


def test_the_command_line(models):
    command = [sys.executable, "-m", "trellis_mc", "check", "--python", models / "lattice" / "bits.py", "--assume", "monotone"]
    done = subprocess.run([*command, models / "lattice" / "database-full.xml"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("SAFE"), done
    nothing = subprocess.run([*command[:4], "--python", __file__.replace("test_lattices", "conftest"), models / "lattice" / "database-full.xml"],
                             capture_output=True, text=True)
    assert nothing.returncode == 2 and "neither a class" in nothing.stderr


def test_learnt_strategies_are_told(models):
    notes = []
    report = tr.open(models / "lattice" / "database-full.xml").check(assume="monotone", note=notes.append)[0]
    assert report.verdict == "SAFE"
    [learnt] = [n for n in notes if "--join" in n]
    strategy = learnt.split("--join '")[1].rstrip("'")
    again = tr.open(models / "lattice" / "database-full.xml").check(assume="monotone", join=strategy)[0]
    assert again.verdict == "SAFE" and again.stats["stored"] == report.stats["stored"]

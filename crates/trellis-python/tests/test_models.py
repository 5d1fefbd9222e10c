"""Models, checks, evidence, walks."""

import json
import threading
import time

import pytest
import trellis_mc as tr

LAMP = "process Lamp() { state Off, On, Broken; init Off; trans Off -> On { }, On -> Off { }; } system Lamp;"
HARD = """
const int N = 24;
process P() { bool b[24]; state A; init A; trans A -> A { select i : int[0, N - 1]; assign b[i] = !b[i]; }; } system P;
"""


def test_verdicts_traces_and_certificates(tmp_path):
    model = tr.loads(LAMP)
    safe, unsafe, possible = model.check("A[] not Lamp.Broken", "A[] not Lamp.On", "E<> Lamp.On", timeout=60)
    assert (safe.verdict, safe.holds, safe.trace) == ("SAFE", True, None)
    assert (unsafe.verdict, unsafe.holds) == ("UNSAFE", False)
    assert (possible.verdict, possible.holds) == ("HOLDS", True)
    assert safe.stats["stored"] == 2 and safe.stats["seconds"] >= 0
    assert "SAFE" in str(safe) and safe.checked
    assert json.loads(safe.certificate)
    assert [step["set"] for step in unsafe.trace] == [{"Lamp": "On"}]
    assert unsafe.trace[0]["parts"][0]["name"] == "Lamp"
    for report in (safe, unsafe):
        file = tmp_path / "evidence.json"
        report.save(file)
        assert model.certify(report.property, file)[0] == "valid"
    assert model.certify("A[] not Lamp.Broken", unsafe.trace.json)[0] == "rejected"


def test_constants_and_the_models_own_properties(models):
    model = tr.open(models / "lattice" / "lossy.xta", const={"N": 2, "M": 1})
    reports = model.check(timeout="60s")
    assert len(reports) == len(model.properties()) and reports[0].holds is False


def test_leader_election_as_in_the_paper(models):
    for n in (3, 5, 7):
        report = tr.open(models / "lattice" / "leader.xml", const={"N": n}).check(join="all")[0]
        assert report.verdict == "SAFE"


def test_errors_have_places():
    with pytest.raises(tr.InputError, match=r"lamp\.xta:1:"):
        tr.loads("process P() { state A init A; } system P;", name="lamp.xta")
    with pytest.raises(tr.InputError):
        tr.open("nowhere.xta")
    with pytest.raises(tr.UsageError, match="unexpected argument"):
        tr.loads(LAMP).check("A[] not Lamp.On", no_such_option=True)
    with pytest.raises(tr.UsageError, match="nothing is asked"):
        tr.loads(LAMP).check()


def test_a_limit_gives_unknown_with_a_reason():
    report = tr.loads(HARD).check("A[] not P.b[0] or not P.b[1] or P.A", states=100)[0]
    assert (report.verdict, report.holds, report.reason) == ("UNKNOWN", None, "state limit reached")


def test_progress_other_threads_and_exceptions_end_a_check():
    told, ran = [], []
    other = threading.Thread(target=lambda: [ran.append(time.sleep(0.02)) for _ in range(10)])

    def progress(lines):
        told.append(lines)
        if len(told) == 8:
            raise KeyboardInterrupt

    other.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tr.loads(HARD).check("A[] P.A", progress=progress, timeout=100, no_symmetry=True)
    assert time.monotonic() - start < 30 and len(told) == 8
    other.join()
    assert len(ran) == 10


def test_pandas_and_html():
    pandas = pytest.importorskip("pandas")
    report = tr.loads(LAMP).check("A[] not Lamp.On")[0]
    frame = report.trace.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame["Lamp"]) == ["Off", "On"]
    page = report._repr_html_()
    assert "<iframe" in page and "UNSAFE" in page


def test_timed_runs_have_delays(models):
    model = tr.open(models / "timed" / "engine-classic.xta")
    report = model.check("A[] UseCase == 0 and SysTimer < 151 imply not GearControl.GearChanged")[0]
    assert report.verdict == "UNSAFE" and any(step.get("delay", "0") != "0" for step in report.trace)


def test_walks():
    walk = tr.loads(LAMP).simulate()
    assert walk.state == {"Lamp": "Off"} and [c["set"] for c in walk.enabled()] == [{"Lamp": "On"}]
    walk.take(0)
    assert walk.state == {"Lamp": "On"} and len(walk) == 1 and len(walk.trace) == 1
    assert walk.undo() and not walk.undo()
    with pytest.raises(tr.UsageError):
        walk.take(7)
    assert walk.random(5, seed=1) == 5
    trace = tr.loads(LAMP).check("A[] not Lamp.On")[0].trace
    assert tr.loads(LAMP).simulate().replay(trace).state == {"Lamp": "On"}


def test_other_languages(models):
    report = tr.open(models / "c" / "overflow.c").check()[0]
    assert report.verdict == "UNSAFE"
    assert tr.loads(LAMP).check(tr.loads(LAMP).ltl("G F Lamp.Off"), fair="progress")[0].holds is True


def test_solver_and_formulas():
    assert tr.ltl2hoa("G(a -> F b)", acceptance="state").startswith("HOA: v1")
    with pytest.raises(tr.InputError):
        tr.ltl2hoa("G(a ->")
    s = tr.Solver().declare("x").declare("y").add("(= (+ x y) 10)", "(= (- x y) 4)")
    assert (s.check(), s.value("x")) == ("sat", "7")
    with pytest.raises(tr.InputError, match="^1:"):
        tr.Solver().run("(assert (= x")


def test_models_built_in_python_are_what_the_file_says():
    s = tr.System()
    n, go = s.int("n", 0, 0, 3), s.channel("go")
    for name, sync, update in (("Left", f"{go}!", f"{n} = {n} + 1"), ("Right", f"{go}?", None)):
        s.automaton(name).location("Idle").edge("Idle", "Idle", sync=sync, update=update, guard=f"{n} < 3" if update else None)
    assert [r.holds for r in s.check("E<> n == 3", "A[] n <= 3")] == [True, True]
    assert tr.loads(str(s)).check("E<> n == 3")[0].holds is True
    with pytest.raises(tr.UsageError, match="no location"):
        s.automaton("Third").location("A").edge("A", "B")

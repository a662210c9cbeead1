"""Ctrl-C, a real signal to a subprocess, and the exit of the interpreter."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import HEPTAMER, advanced, interrupted, output_of, start

import tarn


#: A run without end that prints "ready" after its first steps.
ENDLESS = f"""
import signal, sys, tarn
ready = []
def progress(p):
    if p.step > 0 and not ready:
        ready.append(1)
        print("ready", flush=True)
def run():
    tarn.run({HEPTAMER!r}, out="a", set={{"run.steps": 10**9}}, progress=progress)
"""
#: Steps of an ensemble without end.
ADVANCING = f"""
import numpy, signal, tarn
e = tarn.Ensemble({HEPTAMER!r})
def advance():
    print("ready", flush=True)
    e.advance(10**10)
"""


def status_of(record: str = "a/run.json") -> str:
    return json.loads(Path(record).read_text())["status"]


def test_a_run_stops_after_a_checkpoint():
    status, out, err = interrupted(ENDLESS + """
try:
    run()
except KeyboardInterrupt as stop:
    print(*stop.__notes__)
""")
    assert status == 0 and "stopped after a checkpoint" in out and "resume=True" in out, err
    assert status_of() == "interrupted"
    # The checkpoint is that of the last step.
    done = tarn.Ensemble.load("a").step
    rows = Path("a/energies.csv").read_text().splitlines()
    assert 0 < done and done - 10 < int(rows[-1].split(",")[0]) <= done
    more = tarn.run(HEPTAMER, out="a", set={"run.steps": done + 20}, resume=True)
    assert more.steps_done == done + 20


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2], ids=str
)
def test_other_signals_end_the_program_after_a_checkpoint(number: signal.Signals):
    status, out, err = interrupted(ENDLESS + "run()\nprint('not reached')\n", number=number)
    assert (status, out) == (-number, ""), err
    assert status_of() == "interrupted"
    done = tarn.Ensemble.load("a").step
    assert done > 0
    assert tarn.run(HEPTAMER, out="a", set={"run.steps": done + 20}, resume=True).steps_done > done


def test_a_comparison_ends_with_its_tables_after_sigterm():
    code = ENDLESS.replace("tarn.run(", 'tarn.compare(schemes=["settle", "shake"], deck=')
    status, out, err = interrupted(code + "run()\n", number=signal.SIGTERM)
    assert (status, out) == (-signal.SIGTERM, ""), err
    assert status_of("a/compare.json") == "interrupted"


def test_a_handler_of_the_program_for_sigterm_stays():
    code = ENDLESS + "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\nrun()\n"
    status, _, err = interrupted(code, number=signal.SIGTERM)
    assert status == 7, err
    assert status_of() == "interrupted"


def test_sigterm_after_the_last_step_ends_the_program():
    child = start(f"""
import signal, tarn
print("ready", flush=True)
@tarn.observer(columns=["x_A"], every=400)
def last(frame):
    if frame.step == 400:
        signal.raise_signal(signal.SIGTERM)
    return frame.positions_A[:, 0, 0]
tarn.run({HEPTAMER!r}, out="a", observers=[last])
""")
    _, err = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGTERM, err
    assert status_of() == "finished"


def test_an_uncaught_interrupt_ends_the_program_as_usual():
    status, _, err = interrupted(ADVANCING + "advance()\n")
    assert status == -signal.SIGINT and "KeyboardInterrupt" in err


def test_an_ensemble_continues_after_an_interrupt():
    status, _, err = interrupted(ADVANCING + """
try:
    advance()
except KeyboardInterrupt:
    e.advance(5)
    numpy.savez("state.npz", step=e.step, positions_A=e.positions_A)
""")
    assert status == 0, err
    state = np.load("state.npz")
    assert np.array_equal(advanced(int(state["step"])).positions_A, state["positions_A"])


@pytest.mark.parametrize(
    "work",
    [
        'tarn.Ensemble({"system": {"molecules": 60, "replicas": 10000}, "integrator": {"scheme": "settle"}})',
        "tarn.minimise(tarn.random_cluster(60, replicas=2000), model='tip3p')",
        "tarn.random_cluster(100, replicas=1_000_000)",
    ],
)
def test_preparations_can_be_interrupted(work):
    status, _, err = interrupted(
        f'import tarn\nprint("ready", flush=True)\n{work}\n', after_s=0.3
    )
    assert status == -signal.SIGINT and "KeyboardInterrupt" in err


def test_other_handlers_may_raise_other_exceptions():
    _, out, err = interrupted(ADVANCING + """
class TimeUp(Exception):
    pass
def handler(number, frame):
    raise TimeUp
signal.signal(signal.SIGINT, handler)
try:
    advance()
except TimeUp:
    print("time is up")
""")
    assert out == "time is up\n", err


def test_a_signal_handler_cannot_use_a_computing_ensemble_but_does_not_hang():
    code = ADVANCING + """
def handler(number, frame):
    assert e.step >= 0 and e.molecules == 7  # these are constants or numbers of the last steps
    e.positions_A
signal.signal(signal.SIGINT, handler)
try:
    advance()
except tarn.InputError as error:
    print(error)
"""
    _, out, err = interrupted(code, times=20)
    assert "cannot use an ensemble while it computes" in out, err


def test_an_observer_completes_when_a_run_is_interrupted():
    _, out, err = interrupted(f"""
import time, tarn
@tarn.observer(columns=["x_A"], every=10)
def slow(frame):
    if frame.step == 10:
        print("ready", flush=True)
    for _ in range(20):
        time.sleep(0.005)
    return frame.positions_A[:, 0, 0]
try:
    tarn.run({HEPTAMER!r}, out="a", set={{"run.steps": 10**9}}, observers=[slow])
except KeyboardInterrupt as stop:
    print(*stop.__notes__)
""")
    assert "stopped after a checkpoint" in out, err
    assert status_of() == "interrupted"


def test_an_interrupt_after_the_last_step_is_raised():
    @tarn.observer(columns=["x_A"], every=400)
    def last(frame):
        if frame.step == 400:
            signal.raise_signal(signal.SIGINT)
        return frame.positions_A[:, 0, 0]

    with pytest.raises(KeyboardInterrupt) as caught:
        tarn.run(HEPTAMER, out="a", observers=[last])
    assert caught.value.__notes__ == ["the run was complete; its files are in a"]
    assert status_of() == "finished"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_an_interrupt_at_the_end_of_a_comparison_is_raised():
    def progress(p):
        if p.step == p.total_steps:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        tarn.compare(HEPTAMER, ["settle"], out="c", progress=progress)
    assert "comparison" in caught.value.__notes__[0]


def test_waiting_for_another_thread_can_be_interrupted():
    child = start(f"""
import threading, time, tarn
e = tarn.Ensemble({HEPTAMER!r})
threading.Thread(target=lambda: e.advance(10**10), daemon=True).start()
while e.step == 0:
    time.sleep(0.001)
print("ready", flush=True)
for use in (lambda: e.positions_A, lambda: e.advance(1), lambda: e.save("a"), e.close):
    try:
        use()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
assert e.is_open
""")
    assert child.stdout is not None
    try:
        for _ in range(4):
            began = time.monotonic()
            time.sleep(0.2)
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "interrupted\n"
            assert time.monotonic() - began < 20
        out, err = child.communicate(timeout=20)
    finally:
        child.kill()
    assert (child.returncode, out, err) == (0, "", "")


def exit_with_a_daemon_thread(work: str, seconds: float = 0.5) -> None:
    """Ends a program while a daemon thread repeats work(), within 40 s."""
    child = start(f"""
import threading, time, warnings
import numpy as np
import pytest
import tarn
warnings.simplefilter("ignore")  # of runs that are too short
deck = {HEPTAMER!r}
def repeat():
    while True:
        work()
{work}
threading.Thread(target=repeat, daemon=True).start()
time.sleep({seconds})
print("ready", flush=True)
""")
    try:
        out, err = child.communicate(timeout=40)
    finally:
        child.kill()
    assert (child.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize(
    "work",
    [
        'work = lambda: tarn.run(deck, out="a", overwrite=True, set={"run.steps": 10**9})',
        "e = tarn.Ensemble(deck)\nwork = lambda: e.advance(10**10)",
        "e = tarn.Ensemble(deck)\nwork = lambda: e.advance(1)",
        "e = tarn.Ensemble(deck)\nwork = lambda: e.positions_A",
        "water = tarn.random_cluster(7)\nwork = lambda: tarn.energy_and_forces(water, model='tip3p')",
        "water = tarn.random_cluster(7, replicas=1000)\nwork = lambda: tarn.energy_and_forces(water, model='tip3p')",
        "water = tarn.random_cluster(30, replicas=100)\nwork = lambda: tarn.minimise(water, model='tip3p')",
        'big = {"system": {"molecules": 60, "replicas": 10000}, "integrator": {"scheme": "settle"}}'
        "\nwork = lambda: tarn.Ensemble(big)",
        """
@tarn.observer(columns=["x_A"], every=10)
def x(frame):
    time.sleep(0.001)
    return frame.positions_A[:, 0, 0]
work = lambda: tarn.run(
    deck, out="a", overwrite=True, set={"run.steps": 10**9}, observers=[x], progress=lambda p: None
)
""",
    ],
)
def test_the_interpreter_exits_while_a_daemon_thread_computes(work: str):
    exit_with_a_daemon_thread(work)


def test_the_interpreter_does_not_wait_long_for_a_daemon_thread():
    work = """
@tarn.observer(columns=["x_A"], every=10)
def slow(frame):
    time.sleep(60)
    return frame.positions_A[:, 0, 0]
work = lambda: tarn.run(deck, out="a", overwrite=True, observers=[slow])
"""
    exit_with_a_daemon_thread(work)


def test_a_run_that_the_exit_stops_can_be_resumed():
    exit_with_a_daemon_thread(
        'work = lambda: tarn.run(deck, out="a", set={"run.steps": 10**9})', seconds=1.0
    )
    assert status_of() == "interrupted"
    assert tarn.Ensemble.load("a").step > 0


def test_functions_of_atexit_compute():
    # Those that were registered before the import run after the end of other computations.
    printed = output_of(f"""
import atexit, threading, time
def last():
    ensemble.advance(5)
    print(ensemble.step, tarn.minimise(tarn.random_cluster(3, replicas=20), model="tip3p").converged.all())
atexit.register(last)
import tarn
ensemble, other = tarn.Ensemble({HEPTAMER!r}), tarn.Ensemble({HEPTAMER!r})
threading.Thread(target=lambda: other.advance(10**10), daemon=True).start()
time.sleep(0.2)
""")
    assert printed == "5 True\n"


@pytest.mark.parametrize(
    "work",
    [
        "tarn.normal_modes(tarn.random_cluster(400), model='tip3p')",
        "tarn.rdf(many)",
        "tarn.energy_and_forces(many, threads=1, model='tip3p')",
    ],
)
def test_long_functions_stop(work):
    code = f"""
import numpy as np
import tarn
many = np.tile(tarn.random_cluster(30), (40_000, 1, 1))
try:
    print("ready", flush=True)
    for _ in range(100):
        {work}
except KeyboardInterrupt:
    print("stopped")
"""
    # A minute is many times that of an idle machine, and 100 times less than the work.
    status, out, err = interrupted(code, after_s=1.0)
    assert (status, out) == (0, "stopped\n"), err

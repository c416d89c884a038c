"""How the watchdog judges by the marks, and how long it waits before it starts something again."""

import os

import pytest

from glossary_site.processes.heartbeat import Marks
from glossary_site.processes.restarts import LONGEST_PAUSE, WINDOW_SECONDS, Restarts
from glossary_site.processes.vigil import Verdict, Vigil
from glossary_site.processes.watchdog import TICK_SECONDS


@pytest.fixture
def marks(tmp_path) -> Marks:
    marks = Marks(tmp_path / "marks")
    marks.clear()
    return marks


class TestVigil:
    """Each look is one tick later than the one before."""

    def ticks(self, vigil: Vigil, seconds: float, **marks: int) -> list[Verdict]:
        count = round(seconds / TICK_SECONDS)
        pulses = marks.pop("pulses", True)
        look = {"beat": 1, "busy": 0, **marks}
        return [
            vigil.look(pulse=n if pulses else 0, elapsed=TICK_SECONDS, **look) for n in range(count)
        ]

    def test_asks_now_and_then_before_it_calls_silence_a_hang(self):
        vigil = Vigil(hang_seconds=60, workers=2)
        verdicts = self.ticks(vigil, 61)
        assert verdicts.count(Verdict.ASK) == 5
        assert verdicts[-1] is Verdict.HANGS
        assert Verdict.HANGS not in verdicts[: round(59 / TICK_SECONDS)]

    def test_a_beat_starts_the_count_again(self):
        vigil = Vigil(hang_seconds=60, workers=2)
        assert Verdict.HANGS not in self.ticks(vigil, 50, beat=1)
        assert Verdict.HANGS not in self.ticks(vigil, 50, beat=2)

    def test_silence_is_fine_while_every_worker_is_busy_but_not_when_one_is_free(self):
        vigil = Vigil(hang_seconds=10, workers=2)
        assert set(self.ticks(vigil, 100, busy=2)) == {Verdict.FINE}
        assert Verdict.HANGS in self.ticks(vigil, 11, busy=1)

    def test_a_sentinel_without_pulse_hangs_though_tasks_go_on(self):
        vigil = Vigil(hang_seconds=10, workers=2)
        verdicts = [
            vigil.look(beat=n, pulse=1, busy=2, elapsed=TICK_SECONDS)
            for n in range(round(11 / TICK_SECONDS))
        ]
        assert verdicts[-1] is Verdict.HANGS

    def test_of_what_has_no_workers_only_the_pulse_is_expected(self):
        vigil = Vigil(hang_seconds=10, workers=0)
        assert set(self.ticks(vigil, 100)) == {Verdict.FINE}
        assert self.ticks(vigil, 11, pulses=False)[-1] is Verdict.HANGS

    def test_time_in_which_the_machine_slept_does_not_count(self):
        vigil = Vigil(hang_seconds=10, workers=2)
        vigil.look(beat=1, pulse=1, busy=0, elapsed=0)
        assert vigil.look(beat=1, pulse=1, busy=0, elapsed=3600) is Verdict.FINE


def test_the_busy_mark_of_a_dead_process_does_not_count(marks):
    marks.i_am_busy(True)
    dead = os.fork()
    if dead == 0:
        os._exit(0)
    os.waitpid(dead, 0)
    (marks.directory / f"busy-{dead}").touch()
    assert marks.busy_workers() == 1


def test_a_drain_outlives_the_cluster_but_no_other_mark_does(marks):
    marks.drain(True)
    marks.ready.touch()
    marks.stopping.touch()
    marks.clear()
    assert [path.name for path in marks.directory.iterdir()] == ["drain"]
    assert marks.takes_nothing
    marks.drain(False)
    marks.drain(False)
    assert not marks.takes_nothing


def test_restarts_wait_longer_each_time_up_to_a_limit():
    restarts = Restarts()
    pauses = [restarts.pause_after_death(second) for second in range(20)]
    assert pauses == sorted(pauses)
    assert 0 < pauses[0] < pauses[-1] == LONGEST_PAUSE
    # Deaths of long ago are forgiven.
    assert restarts.pause_after_death(2 * WINDOW_SECONDS) == pauses[0]

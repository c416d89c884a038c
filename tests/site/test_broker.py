"""Where a cluster gets its tasks: the queue, the wake-up, and when nothing is taken."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, connections, transaction
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ

from glossary_site.processes import broker as broker_module
from glossary_site.processes import wakeup as wakeup_module
from glossary_site.processes.broker import DatabaseQueue, WatchedBroker
from glossary_site.processes.heartbeat import Marks
from glossary_site.processes.redis_queue import RedisQueue
from glossary_site.processes.wakeup import LONGEST_WAIT, SAFETY_SECONDS, OnCommit, OnNotification
from tests.site.running import wait_for


@pytest.fixture
def in_database(monkeypatch):
    """The database as broker, also where the suite runs with Redis."""
    monkeypatch.setattr(Conf, "ORM", "default")


def put(payload: str, *, key: str = "glossary", locked_for: float = -1) -> int:
    lock = timezone.now() + timedelta(seconds=locked_for)
    return OrmQ.objects.create(key=key, payload=payload, lock=lock).pk


@pytest.mark.usefixtures("in_database")
class TestDatabaseQueue:
    @pytest.mark.django_db
    def test_the_oldest_task_of_the_own_cluster_that_is_in_nobodys_hand(self):
        put("of another cluster", key="glossary-long")
        put("in somebody's hand", locked_for=60)
        put("first")
        put("second")
        queue = DatabaseQueue("glossary")
        assert queue.dequeue() == [(None, "first")]
        assert queue.dequeue() == [(None, "second")]
        assert queue.dequeue() is None

    @pytest.mark.django_db
    def test_a_task_that_was_taken_is_gone_and_needs_no_acknowledgement(self):
        put("of another cluster", key="glossary-long")
        put("task")
        assert DatabaseQueue("glossary").dequeue() == [(None, "task")]
        assert [task.payload for task in OrmQ.objects.all()] == ["of another cluster"]

    @pytest.mark.django_db(transaction=True)
    def test_clusters_that_race_for_tasks_take_each_once(self):
        for n in range(60):
            put(str(n))
        taken: list[str] = []
        together = threading.Barrier(4)

        def take() -> None:
            queue = DatabaseQueue("glossary")
            together.wait()
            misses = 0
            # Nothing may mean that another one was faster.
            while misses < 5:
                tasks = queue.dequeue()
                misses = 0 if tasks else misses + 1
                taken.extend(payload for _, payload in tasks or [])
            connection.close()

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(taken, key=int) == [str(n) for n in range(60)]

    @pytest.mark.django_db
    def test_what_is_put_there_can_be_taken(self):
        queue = DatabaseQueue("glossary")
        queue.enqueue("first")
        queue.enqueue("second")
        DatabaseQueue("glossary-long").enqueue("of another cluster")
        assert queue.queue_size() == 2
        assert queue.dequeue() == [(None, "first")]
        assert queue.dequeue() == [(None, "second")]

    @pytest.mark.django_db
    def test_several_at_once_in_their_order_and_each_once(self):
        queue = DatabaseQueue("glossary")
        for n in range(5):
            queue.enqueue(str(n))
        queue.at_once = 3
        taken = []
        while tasks := queue.dequeue():
            taken += [payload for _, payload in tasks]
        assert taken == ["0", "1", "2", "3", "4"]


class TestRedisQueue:
    @pytest.fixture
    def queue(self, monkeypatch, settings) -> Iterator[RedisQueue]:
        if not settings.REDIS_URL:
            pytest.skip("no Redis")
        queue = RedisQueue("test-of-the-queue")
        queue.delete_queue()
        yield queue
        queue.delete_queue()

    def test_several_at_once_in_their_order_and_each_once(self, queue):
        for n in range(9):
            queue.enqueue(str(n))
        queue.at_once = 4
        taken = [[int(task) for _, task in queue.dequeue()] for _ in range(3)]
        # How many there are is not known at first.
        assert taken == [[0], [1, 2, 3, 4], [5, 6, 7, 8]]
        assert queue.dequeue() is None

    def test_one_at_a_time_where_none_shall_be_taken_in_advance(self, queue):
        for n in range(3):
            queue.enqueue(str(n))
        assert [queue.dequeue() for _ in range(3)] == [[(None, b"%d" % n)] for n in range(3)]


@pytest.mark.usefixtures("in_database")
class TestOnNotification:
    @pytest.fixture(autouse=True)
    def _on_postgresql(self, transactional_db):
        if connection.vendor != "postgresql":
            pytest.skip("SQLite tells otherwise")

    @pytest.fixture
    def wakeup(self) -> Iterator[OnNotification]:
        wakeup = OnNotification("default")
        yield wakeup
        wakeup._stop_listening()

    def test_it_wakes_for_a_task_of_its_cluster_once_that_is_committed(self, wakeup):
        # It looks once when it begins to listen, and once for safety.
        assert wakeup.wait()
        assert wakeup.wait()
        assert not wakeup.wait()
        DatabaseQueue("glossary-long").enqueue("of another cluster")
        assert not wakeup.wait()
        with transaction.atomic():
            DatabaseQueue("glossary").enqueue("task")
            assert not wakeup.wait()
        began = time.monotonic()
        assert wakeup.wait()
        assert time.monotonic() - began < LONGEST_WAIT / 2

    def test_it_looks_now_and_then_though_nobody_told(self, wakeup):
        began = time.monotonic()
        assert wakeup.wait()
        assert wakeup.wait()
        while not wakeup.wait():
            assert time.monotonic() - began < 5 * SAFETY_SECONDS
        assert time.monotonic() - began >= SAFETY_SECONDS

    def test_a_listener_that_was_cut_off_is_missed_by_nobody(self, wakeup, monkeypatch, caplog):
        monkeypatch.setattr(wakeup_module, "RETRY_SECONDS", 0.3)
        assert wakeup.wait()
        with connection.cursor() as cursor:
            pid = wakeup._listener.connection.info.backend_pid
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
        # From now on it says each time that one should look, until it is told again.
        assert wakeup.wait()
        assert "Not told of new tasks" in caplog.text
        assert wakeup._listener is None
        assert wakeup.wait()
        wait_for("it listens again", lambda: wakeup.wait() and wakeup._listener is not None)
        while wakeup.wait():
            pass
        DatabaseQueue("glossary").enqueue("task")
        assert wakeup.wait()

    def test_a_server_without_room_for_a_listener_is_asked_at_intervals(self, wakeup, monkeypatch):
        def refuse(self) -> None:
            raise OperationalError("sorry, too many clients already")

        with monkeypatch.context() as full:
            full.setattr(type(connections["default"]), "ensure_connection", refuse)
            began = time.monotonic()
            assert all(wakeup.wait() for _ in range(3))
            assert time.monotonic() - began >= 3 * Conf.POLL


class TestOnCommit:
    @pytest.fixture
    def database(self, tmp_path) -> str:
        path = str(tmp_path / "some.sqlite3")
        with sqlite3.connect(path) as writer:
            writer.execute("PRAGMA journal_mode=WAL")
            writer.execute("CREATE TABLE note (text)")
        writer.close()
        return path

    def test_it_wakes_for_a_commit_of_another_connection_and_for_nothing_else(self, database):
        wakeup = OnCommit(database)
        assert wakeup.wait()
        assert not wakeup.wait()
        writer = sqlite3.connect(database)
        writer.execute("INSERT INTO note VALUES ('not yet')")
        assert not wakeup.wait()
        writer.commit()
        began = time.monotonic()
        assert wakeup.wait()
        assert time.monotonic() - began < LONGEST_WAIT / 2
        writer.close()

    def test_it_wakes_while_it_waits(self, database):
        wakeup = OnCommit(database)
        assert wakeup.wait()

        def write() -> None:
            with sqlite3.connect(database) as writer:
                writer.execute("INSERT INTO note VALUES ('now')")
            writer.close()

        thread = threading.Timer(LONGEST_WAIT / 2, write)
        thread.start()
        assert wakeup.wait()
        thread.join()

    def test_it_looks_now_and_then_though_nothing_was_committed(self, database):
        wakeup = OnCommit(database)
        began = time.monotonic()
        assert wakeup.wait()
        while not wakeup.wait():
            assert time.monotonic() - began < 5 * SAFETY_SECONDS
        assert time.monotonic() - began >= SAFETY_SECONDS


class FakeBroker:
    def __init__(self) -> None:
        self.tasks = ["one", "two", "three"]
        self.broken = False

    def dequeue(self) -> list[tuple[None, str]] | None:
        if self.broken:
            raise ConnectionError("nobody there\nat all")
        return [(None, self.tasks.pop(0))] if self.tasks else None


class TestWatchedBroker:
    @pytest.fixture
    def marks(self, tmp_path) -> Marks:
        marks = Marks(tmp_path / "marks")
        marks.clear()
        return marks

    @pytest.fixture(autouse=True)
    def impatient(self, monkeypatch):
        # With Redis the broker itself waits: nothing else is asked before it.
        monkeypatch.setattr(Conf, "ORM", None)
        for name in ("HOLD_SECONDS", "FAILURE_SECONDS"):
            monkeypatch.setattr(broker_module, name, 0.001)

    def watched(self, marks: Marks, slots: int | None = None) -> WatchedBroker:
        return WatchedBroker(FakeBroker(), marks, slots=slots)

    def test_a_drain_holds_tasks_back_but_not_the_canary(self, marks):
        watched = self.watched(marks)
        marks.drain(True)
        assert watched.dequeue() is None
        marks.canary.touch()
        ((_, package),) = watched.dequeue()
        assert package not in ("one", "two")
        assert watched.dequeue() is None
        marks.drain(False)
        assert watched.dequeue() == [(None, "one")]

    def test_who_is_stopping_takes_nothing(self, marks):
        watched = self.watched(marks)
        marks.stopping.touch()
        assert watched.dequeue() is None

    def test_a_broker_that_is_down_is_asked_again(self, marks, caplog):
        watched = self.watched(marks)
        watched._broker.broken = True
        assert watched.dequeue() is None
        assert "No task could be fetched: nobody there" in caplog.text
        watched._broker.broken = False
        assert watched.dequeue() == [(None, "one")]

    def test_nothing_is_taken_in_advance_where_tasks_are_long(self, marks):
        watched = self.watched(marks, slots=1)
        assert watched.dequeue() == [(None, "one")]
        # On its way to a worker.
        assert watched.dequeue() is None
        marks.i_am_busy(True)
        marks.handed.unlink()
        # In a worker's hand.
        assert watched.dequeue() is None
        marks.i_am_busy(False)
        assert watched.dequeue() == [(None, "two")]

    def test_the_next_one_is_at_hand_where_tasks_are_short(self, marks):
        watched = self.watched(marks)
        marks.i_am_busy(True)
        assert watched.dequeue() == [(None, "one")]
        assert watched.dequeue() == [(None, "two")]

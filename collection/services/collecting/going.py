"""The way of a collection through its targets, from wherever it was left.

Threads visit repositories, so many at a time and so many of one host; this one writes what they
tell, several messages in a transaction that commits only while the job is ours.
"""

import heapq
import queue
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db.models import Min
from django.utils import timezone

from collection import news
from collection.choices import Kind
from collection.models import BulkCollectionRun, Repository
from collection.origins.data import OriginProblem
from collection.services.authors import take_mailmap
from collection.services.collecting import writing
from collection.services.collecting.visiting import (
    Answer,
    Answered,
    Arrived,
    Documents,
    Failed,
    Left,
    Message,
    Named,
    Orders,
    Reached,
    Rewritten,
    Shared,
    Visit,
    Visitor,
)
from collection.services.documents import take_documents
from collection.services.ending import COLLECT, complete, scope_of
from glossary_site.errors import Refusal
from glossary_site.jobs.choices import State as JobState
from glossary_site.jobs.errors import Stop, Stopped
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.jobs.session import Session

IN_HAND = (JobState.ASSIGNED, JobState.RUNNING)
LOOK_SECONDS = 0.2
# Messages that wait to be written: visits that are ahead of the database wait here.
MOST_WAITING = 16
# Messages of one transaction, and commits that are enough for one.
MOST_TOGETHER = 64
COMMITS_TOGETHER = 5000
TELL_SECONDS = 0.5
# When all that is left has to wait longer than this, no worker is kept waiting with it.
PATIENCE_SECONDS = 30


class Parked(Exception):
    """What is left is tried again later, by another job."""


def collect(run_id: str, session: Session) -> None:
    """Go on with a collection to its end, or until all that is left has to wait."""
    run = BulkCollectionRun.objects.select_related("project").filter(pk=UUID(run_id)).first()
    if run is not None and _take(run, session):
        Collector(run, session).go()


def _take(run: BulkCollectionRun, session: Session) -> bool:
    """Make it ours; False when it has ended. Whoever had it before may be about to end: it is
    waited for."""
    while True:
        with session.atomic():
            row = BulkCollectionRun.objects.select_for_update(of=("self",)).get(pk=run.pk)
            other = JobRun.objects.filter(pk=row.job_id or 0, state__in=IN_HAND)
            if not other.exclude(pk=session.run.pk).exists():
                if row.is_running:
                    BulkCollectionRun.objects.filter(pk=run.pk).update(job=session.run)
                    run.results.pending().update(in_hand_since=None)
                return row.is_running
        session.wait(LOOK_SECONDS)


class Collector:
    def __init__(self, run: BulkCollectionRun, session: Session) -> None:
        self._run = run
        self._session = session
        self._messages: queue.Queue[Message] = queue.Queue(MOST_WAITING)
        self._visitor = Visitor(self._messages)
        self._visits: dict[int, Visit] = {}
        self._rewritten: Counter[int] = Counter()
        self._todo: deque[int] = deque()
        self._later: list[tuple[datetime, int]] = []
        self._streams = news.streams_of(run)
        self._told = timezone.now()

    def go(self) -> None:
        self._find_work()
        pool = ThreadPoolExecutor(settings.COLLECTION_PARALLEL, "visit")
        try:
            while self._todo or self._visits or self._later:
                self._begin_visits(pool)
                self._write(self._next_messages())
                self._session.check()
                self._maybe_park()
        finally:
            for visit in self._visits.values():
                visit.unwanted.set()
            pool.shutdown(cancel_futures=True)
        with self._session.finishing():
            if not complete(self._run):
                raise Stopped(Stop.CANCELED)

    def _find_work(self) -> None:
        pending = self._run.results.pending().order_by("repository").values("repository")
        for row in pending.annotate(due=Min("next_retry_at")):
            if row["due"] is None:
                self._todo.append(row["repository"])
            else:
                heapq.heappush(self._later, (row["due"], row["repository"]))

    def _begin_visits(self, pool: ThreadPoolExecutor) -> None:
        now = timezone.now()
        while self._later and self._later[0][0] <= now:
            self._todo.append(heapq.heappop(self._later)[1])
        hosts = Counter(host_of(visit.repository) for visit in self._visits.values())
        begun, held = [], []
        while self._todo and len(self._visits) < settings.COLLECTION_PARALLEL:
            found = Repository.objects.select_related("project").filter(pk=self._todo.popleft())
            repository = found.first()
            if repository is None or repository.pk in self._visits:
                continue
            host = host_of(repository)
            if host and hosts[host] >= settings.COLLECTION_PER_HOST:
                held.append(repository.pk)
                continue
            hosts[host] += 1
            begun.append(repository.pk)
            language = repository.project.language if repository.project else ""
            visit = Visit(repository, language or settings.LANGUAGE_CODE)
            self._visits[repository.pk] = visit
            pool.submit(self._visitor.make, visit)
        self._todo.extendleft(reversed(held))
        if begun:
            with self._session.atomic():
                pending = self._run.results.pending().filter(repository__in=begun)
                pending.update(in_hand_since=now, next_retry_at=None)

    def _next_messages(self) -> list[Message]:
        """What can be written together; nothing after a little while."""
        found: list[Message] = []
        commits = 0
        with suppress(queue.Empty):
            found.append(self._messages.get(timeout=self._look_seconds()))
            while len(found) < MOST_TOGETHER and commits < COMMITS_TOGETHER:
                if isinstance(found[-1], Arrived):
                    commits += len(found[-1].batch.commits)
                found.append(self._messages.get_nowait())
        return found

    def _look_seconds(self) -> float:
        """Not longer than until something is to be tried again."""
        if not self._later:
            return LOOK_SECONDS
        due = (self._later[0][0] - timezone.now()).total_seconds()
        return min(max(due, 0.001), LOOK_SECONDS)

    def _write(self, messages: list[Message]) -> None:
        if not messages:
            return
        answers: list[tuple[Visit, Answer]] = []
        documents = [each for each in messages if isinstance(each, Documents)]
        with self._session.atomic():
            # Before the collection's own row, as everybody does.
            ids = {message.visit.repository.pk for message in messages}
            locked = Repository.objects.select_for_update(no_key=True, of=("self",))
            rows = locked.select_related("project").filter(pk__in=ids).order_by("pk")
            repositories = {row.pk: row for row in rows}
            self._note_progress()
            for message in messages:
                repository = repositories.get(message.visit.repository.pk)
                if repository is None:
                    # It was removed, and its targets with it.
                    message.visit.unwanted.set()
                    self._visits.pop(message.visit.repository.pk, None)
                elif isinstance(message, Answered):
                    answers.append((message.visit, self._order(message, repository)))
                elif isinstance(message, Shared):
                    answers.append((message.visit, self._copy(message)))
                else:
                    self._note(message, repository)
        for visit, answer in answers:
            visit.answers.put(answer)
        for message in documents:
            self._take_documents(message)
        self._show()

    def _note_progress(self) -> None:
        now = timezone.now()
        running = BulkCollectionRun.objects.running().filter(pk=self._run.pk)
        if not running.update(progress_at=now):
            raise Stopped(Stop.CANCELED)
        if (now - self._told).total_seconds() > TELL_SECONDS:
            self._told = now
            news.progress(self._run, self._streams)

    def _order(self, message: Answered, repository: Repository) -> Orders:
        visit, heads = message.visit, message.heads
        if visit.host_keys and visit.host_keys != repository.host_keys:
            Repository.objects.filter(pk=repository.pk).update(host_keys=visit.host_keys)
        errands = writing.take_heads(self._run, repository, heads)
        default = heads.branches.get(repository.default_branch, "")
        moved = any(each.head == default and each.known != default for each in errands)
        return Orders(
            errands=errands,
            documents=writing.documents_wanted(repository, heads),
            mailmap=default if moved and repository.project_id is not None else "",
        )

    def _copy(self, message: Shared) -> frozenset[str]:
        there, new = writing.copy_commits(message.errand, message.shas)
        writing.note_new(self._run, message.errand, new, expected=0)
        return there

    def _note(self, message: Message, repository: Repository) -> None:
        match message:
            case Arrived(errand=errand, batch=batch):
                new = writing.store_commits(errand, batch.commits, batch.position)
                writing.note_new(self._run, errand, new, batch.expected)
            case Rewritten(errand=errand, shas=shas):
                self._rewritten[errand.result.pk] += len(shas)
                writing.note_left_behind(errand, shas)
            case Reached(errand=errand):
                count = self._rewritten.get(errand.result.pk)
                writing.reach(errand, rewritten=count)
            case Named(mailmap=text):
                take_mailmap(repository=repository, text=text)
            case Failed(error=error, errand=errand):
                again = writing.take_trouble(self._run, repository, error, errand)
                if again is not None:
                    heapq.heappush(self._later, (again, repository.pk))
            case Left(visit=visit):
                self._visits.pop(visit.repository.pk, None)

    def _take_documents(self, message: Documents) -> None:
        """Their trouble is noted, and no trouble of the commits: the next collection tries them
        again."""
        visit = message.visit
        rows = Repository.objects.select_related("project")
        repository = rows.filter(pk=visit.repository.pk).first()
        if repository is None:
            # It was removed in this moment.
            visit.unwanted.set()
            return
        error = ""
        try:
            take_documents(
                repository,
                message.origin,
                head=message.head,
                atomic=self._session.atomic,
                check=self._session.check,
            )
        except (OriginProblem, Refusal) as problem:
            error = str(problem)
        if error:
            with self._session.atomic():
                Repository.objects.filter(pk=repository.pk).update(documents_error=error)
        visit.answers.put(None)

    def _show(self) -> None:
        """For those who look at jobs."""
        row = BulkCollectionRun.objects.filter(pk=self._run.pk).first()
        if row is not None:
            self._session.progress(row.done_count, row.total_targets)

    def _maybe_park(self) -> None:
        if self._todo or self._visits or not self._later:
            return
        due = self._later[0][0]
        if (due - timezone.now()).total_seconds() <= PATIENCE_SECONDS:
            return
        with self._session.finishing({"parked": True}):
            job = enqueue(
                COLLECT,
                {"run_id": str(self._run.pk)},
                scope=scope_of(self._run),
                run_after=due,
            )
            running = BulkCollectionRun.objects.running().filter(pk=self._run.pk)
            if not running.update(job=job):
                raise Stopped(Stop.CANCELED)
        raise Parked


def host_of(repository: Repository) -> str:
    """Whom too many visits at a time would annoy; empty for this machine."""
    if repository.kind == Kind.LOCAL:
        return ""
    return urlsplit(repository.address).hostname or ""

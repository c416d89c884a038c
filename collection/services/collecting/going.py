"""The way of a collection through its targets, from wherever it was left.

Threads visit repositories, so many at a time and so many of one host; this one writes what they
tell, several messages in a transaction that commits only while the job is ours.
"""

import logging
import queue
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Count, Min
from django.utils import timezone
from django.utils.translation import override

from collection import news
from collection.models import BulkCollectionRun, Repository
from collection.origins.data import OriginProblem
from collection.origins.data import Stopped as OriginStopped
from collection.services.authors import take_mailmap
from collection.services.collecting import writing
from collection.services.collecting.turns import Turns, host_of
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
from projects.models import Project

logger = logging.getLogger(__name__)

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


# No fault of what was told: the database is away, or was in somebody's hand.
NOT_TOLD = (Stopped, OriginStopped, OperationalError, InterfaceError)


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
        self._turns = Turns()
        self._streams = news.streams_of(run)
        self._told = timezone.now()

    def go(self) -> None:
        self._find_work()
        pool = ThreadPoolExecutor(settings.COLLECTION_PARALLEL, "visit")
        try:
            while self._turns or self._visits:
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
        pending = self._run.results.pending().order_by("repository")
        of_each = pending.values("repository", "repository__kind", "repository__address")
        for row in of_each.annotate(
            due=Min("next_retry_at"), known=Count("next_retry_at"), n=Count("pk")
        ):
            self._turns.add(
                row["repository"],
                host=host_of(row["repository__kind"], row["repository__address"]),
                # One that need not wait takes the others along.
                due=row["due"] if row["known"] == row["n"] else None,
            )

    def _begin_visits(self, pool: ThreadPoolExecutor) -> None:
        now = timezone.now()
        free = settings.COLLECTION_PARALLEL - len(self._visits)
        chosen = self._turns.take(free, under_way=self._visits, now=now)
        if not chosen:
            return
        pending = self._run.results.pending().filter(repository__in=chosen)
        # Others were removed, or have nothing left that waits.
        found = Repository.objects.select_related("project").filter(
            pk__in=pending.values("repository")
        )
        for repository in sorted(found, key=lambda each: chosen.index(each.pk)):
            language = repository.project.language if repository.project else ""
            visit = Visit(
                repository, language or settings.LANGUAGE_CODE, cancelled=self._session.cancelled
            )
            self._visits[repository.pk] = visit
            pool.submit(self._visitor.make, visit)
        with self._session.atomic():
            self._lock_run()
            pending.update(in_hand_since=now, next_retry_at=None)

    def _lock_run(self) -> None:
        """Before its results: others who change several of them do so, too."""
        running = BulkCollectionRun.objects.running().filter(pk=self._run.pk)
        if not running.select_for_update(no_key=True, of=("self",)).exists():
            raise Stopped(Stop.CANCELED)

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
        due = self._turns.next_due
        if due is None:
            return LOOK_SECONDS
        return min(max((due - timezone.now()).total_seconds(), 0.001), LOOK_SECONDS)

    def _write(self, messages: list[Message]) -> None:
        if not messages:
            return
        answers: list[tuple[Visit, Answer]] = []
        with self._session.atomic():
            repositories = self._locked(messages)
            self._note_progress()
            for message in messages:
                visit = message.visit
                if self._is_wanted(visit, repositories.get(visit.repository.pk)):
                    answers += self._hear(message, repositories[visit.repository.pk])
        for visit, answer in answers:
            visit.answers.put(answer)
        for message in messages:
            if isinstance(message, Documents) and not message.visit.unwanted.is_set():
                self._take_documents(message)
        self._show()

    def _locked(self, messages: Sequence[Message]) -> dict[int, Repository]:
        """Before the collection's own row, as everybody does; and before them the projects whose
        people are to be named, as those do who name them by hand."""
        projects_of = (
            each.visit.repository.project_id for each in messages if isinstance(each, Named)
        )
        named = {pk for pk in projects_of if pk is not None}
        if named:
            projects = Project.objects.select_for_update(no_key=True).filter(pk__in=named)
            list(projects.order_by("pk").values_list("pk"))
        ids = {message.visit.repository.pk for message in messages}
        locked = Repository.objects.select_for_update(no_key=True, of=("self",))
        rows = locked.select_related("project").filter(pk__in=ids).order_by("pk")
        return {row.pk: row for row in rows}

    def _is_wanted(self, visit: Visit, repository: Repository | None) -> bool:
        """Not what a visit tells of a repository that was removed, or is another one by now: that
        one is visited anew."""
        if visit.unwanted.is_set():
            return False
        if repository is not None and visit.is_to(repository):
            return True
        self._leave(visit)
        if repository is not None:
            self._turns.add(repository.pk, host=host_of(repository.kind, repository.address))
        return False

    def _leave(self, visit: Visit) -> None:
        visit.unwanted.set()
        self._visits.pop(visit.repository.pk, None)

    def _hear(self, message: Message, repository: Repository) -> list[tuple[Visit, Answer]]:
        """What a message says is written, and perhaps answered. What cannot be written is the
        trouble of its repository and of no other."""
        visit = message.visit
        with override(visit.language):
            try:
                with transaction.atomic():
                    match message:
                        case Answered():
                            return [(visit, self._order(message, repository))]
                        case Shared():
                            return [(visit, self._copy(message))]
                        case _:
                            self._note(message, repository)
            except NOT_TOLD:
                raise
            except Exception as error:
                logger.exception("What repository %s told cannot be written", repository.pk)
                self._leave(visit)
                writing.take_trouble(self._run, repository, error, None)
        return []

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
        known = visit.repository.host_keys
        # Somebody may have had them forgotten meanwhile.
        if visit.host_keys and visit.host_keys != known == repository.host_keys:
            Repository.objects.filter(pk=repository.pk).update(host_keys=visit.host_keys)
        errands = writing.take_heads(self._run, repository, heads)
        return Orders(
            errands=errands,
            documents=writing.documents_wanted(repository, heads),
            mailmap=writing.mailmap_wanted(repository, errands),
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
                # The first of them names none. An earlier try may have got so far, too.
                counted = self._rewritten[errand.result.pk] if shas else 0
                self._rewritten[errand.result.pk] = counted + len(shas)
                writing.note_left_behind(errand, shas)
            case Reached(errand=errand):
                count = self._rewritten.get(errand.result.pk)
                writing.reach(errand, rewritten=count)
            case Named(mailmap=text):
                take_mailmap(repository=repository, text=text)
            case Failed():
                self._try_again(message, repository)
            case Left(visit=visit):
                self._visits.pop(visit.repository.pk, None)

    def _try_again(self, message: Failed, repository: Repository) -> None:
        error = message.error
        again = writing.take_trouble(self._run, repository, error, message.errand)
        if again is None:
            return
        host = host_of(repository.kind, repository.address)
        if isinstance(error, OriginProblem) and error.retry_after:
            self._turns.leave_alone(host, again)
        self._turns.add(repository.pk, host=host, due=again)

    def _take_documents(self, message: Documents) -> None:
        """Their trouble is noted, and no trouble of the commits: the next collection tries them
        again."""
        visit = message.visit
        rows = Repository.objects.select_related("project")
        repository = rows.filter(pk=visit.repository.pk).first()
        if repository is None:
            # It was removed in this moment.
            self._leave(visit)
            return
        with override(visit.language):
            error = self._documents_trouble(message, repository)
        if error:
            with self._session.atomic():
                Repository.objects.filter(pk=repository.pk).update(documents_error=error)
        visit.answers.put(None)

    def _documents_trouble(self, message: Documents, repository: Repository) -> str:
        try:
            take_documents(
                repository,
                message.origin,
                head=message.head,
                atomic=self._session.atomic,
                check=self._session.check,
            )
        except OriginStopped:
            self._session.check()
            raise
        except NOT_TOLD:
            raise
        except Exception as error:
            if not isinstance(error, OriginProblem | Refusal):
                logger.exception("The documents of repository %s failed", repository.pk)
            return writing.sentence_of(error)
        return ""

    def _show(self) -> None:
        """For those who look at jobs."""
        row = BulkCollectionRun.objects.filter(pk=self._run.pk).first()
        if row is not None:
            self._session.progress(row.done_count, row.total_targets)

    def _maybe_park(self) -> None:
        due = self._turns.waits_until
        if self._visits or due is None:
            return
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

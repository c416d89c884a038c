"""What a collection does to its targets, and what is counted of it."""

import threading
from unittest.mock import patch

import pytest

from collection.choices import BranchState, ResultStatus, RunStatus, State
from collection.models import Branch, BulkCollectionRun, Commit, Repository
from collection.origins.data import OriginProblem
from collection.services.collecting import writing
from collection.services.repositories import remove_repository
from collection.services.starting import retry_failed, start
from collection.services.summaries import summary
from glossary_site.errors import Refusal
from projects.access import OPERATOR
from tests.collection.factories import make_branch, make_repository
from tests.collection.working import collect, perform_job, shas, work_on

pytestmark = pytest.mark.django_db

GONE = OriginProblem(State.NOT_FOUND, "There is nothing at this address.")
AWAY = OriginProblem(State.UNREACHABLE, "The host does not answer.", again=True)


def results(run):
    rows = run.results.order_by("repository", "branch_name")
    return [(row.branch_name, row.status, row.new_commits_count) for row in rows]


def check_counts(run):
    """The counts of a collection are those of its rows."""
    run.refresh_from_db()
    by_status = {
        status: run.results.filter(status=status).count() for status in ResultStatus.values
    }
    assert run.total_targets == sum(by_status.values())
    assert run.success_count == run.completed_count == by_status["success"]
    assert run.failed_count == by_status["failed"]
    assert run.pending_count == by_status["pending"]


class TestAFirstCollection:
    def test_every_commit_comes_once(self, made, project):
        repository, origin = made(commits=250)
        run = collect(project)
        assert run.status == RunStatus.COMPLETED
        assert run.new_commits == 250
        assert shas(repository) == list(origin.commits)
        assert results(run) == [("main", "success", 250)]
        check_counts(run)
        branch = Branch.objects.get()
        assert (branch.head, branch.complete) == (origin.head, True)
        assert branch.collected_at is not None

    def test_the_columns(self, made, project):
        _repository, origin = made(commits=2)
        collect(project)
        data = origin.commits[origin.head].data
        row = Commit.objects.get(sha=origin.head)
        assert row.parents.split() == list(data.parents)
        for name in ("author_name", "author_email", "committed_date", "additions", "subject"):
            assert getattr(row, name) == getattr(data, name)

    def test_since(self, made, project):
        repository, origin = made(commits=5)
        middle = list(origin.commits.values())[2].data
        collect(project, since=middle.committed_date)
        assert shas(repository) == list(origin.commits)[2:]

    def test_every_branch_that_is_followed_becomes_a_target(self, made, project):
        _repository, origin = made(branch_patterns=["main", "release/*"])
        for name in ("release/1", "release/2", "topic"):
            origin.commit({"b.md": name}, branch=name, parents=[origin.head])
        run = collect(project)
        assert results(run) == [
            ("main", "success", 3),
            ("release/1", "success", 4),
            ("release/2", "success", 4),
        ]
        check_counts(run)

    def test_patterns_that_leave_the_default_branch_out(self, made, project):
        _repository, origin = made(branch_patterns=["release/*"])
        origin.commit({"b.md": "x"}, branch="release/1", parents=[origin.head])
        run = collect(project)
        assert results(run) == [("release/1", "success", 4)]
        check_counts(run)

    def test_no_branch_matches(self, made, project):
        made(branch_patterns=["release/*"])
        run = collect(project)
        assert results(run) == [("HEAD", "failed", None)]
        assert "No branch" in run.results.get().error_message
        check_counts(run)

    def test_chosen_branches_only(self, made, project):
        _repository, origin = made()
        origin.commit({"b.md": "x"}, branch="topic", parents=[origin.head])
        run = collect(project, branch_names=["topic", "nowhere"])
        assert results(run) == [("nowhere", "failed", None), ("topic", "success", 4)]
        assert "nowhere" in run.results.failed().get().error_message
        # Chosen once; no name or pattern asks for it.
        assert Branch.objects.get(name="topic").state == BranchState.LEFT_OUT
        check_counts(run)

    def test_an_empty_repository(self, made, project):
        made(commits=0)
        run = collect(project)
        assert results(run) == [("HEAD", "success", 0)]
        assert "empty" in run.results.get().note
        assert Repository.objects.get().state == State.EMPTY

    def test_what_another_branch_has_is_not_compared_again(self, made, project):
        repository, origin = made(commits=120, branch_patterns=["main", "release/*"])
        origin.branches["release/1"] = list(origin.commits)[60]
        own = origin.commit({"b.md": "x"}, branch="release/1")
        run = collect(project)
        assert results(run) == [("main", "success", 120), ("release/1", "success", 62)]
        assert sorted(origin.compared) == sorted(origin.commits)
        assert shas(repository, "release/1") == [*list(origin.commits)[:61], own]
        copied = Commit.objects.get(branch__name="release/1", sha=list(origin.commits)[7])
        theirs = Commit.objects.get(branch__name="main", sha=copied.sha)
        for name in ("subject", "committed_date", "additions", "deletions", "parents"):
            assert getattr(copied, name) == getattr(theirs, name)


class TestContinuing:
    def test_what_is_new(self, made, project):
        repository, origin = made()
        collect(project)
        new = [origin.commit({"a.md": "new"}), origin.commit({"a.md": "newer"})]
        run = collect(project)
        assert results(run) == [("main", "success", 2)]
        assert shas(repository)[-2:] == new

    def test_nothing_new_asks_for_the_heads_and_nothing_else(self, made, project):
        _, origin = made()
        collect(project)
        origin.asked.clear()
        run = collect(project)
        assert origin.asked == ["heads"]
        assert results(run) == [("main", "success", 0)]

    def test_a_branch_that_is_merged_late_with_old_dates(self, made, project):
        """What MAX(committed_date) would miss."""
        repository, origin = made()
        first, *_rest = origin.commits
        collect(project)
        old = origin.commit(
            {"old.md": "x"},
            branch="topic",
            parents=[first],
            when=origin.commits[first].data.committed_date,
        )
        origin.commit({"old.md": "x"}, parents=[origin.head, old])
        run = collect(project)
        assert results(run) == [("main", "success", 2)]
        assert old in shas(repository)

    def test_a_history_that_was_rewritten(self, made, project):
        repository, origin = made(commits=3)
        collect(project)
        old, first = origin.head, next(iter(origin.commits))
        other = origin.commit({"a.md": "other"}, parents=[first])
        run = collect(project)
        assert shas(repository, unreachable=False) == [first, other]
        assert len(shas(repository, unreachable=True)) == 2
        assert "2 commits are no longer" in run.results.get().note
        branch = Branch.objects.get()
        assert (branch.rewritten_from, branch.head) == (old, other)
        assert branch.rewritten_at is not None
        # And put back.
        origin.branches["main"] = old
        run = collect(project)
        assert shas(repository, unreachable=True) == [other]
        assert run.new_commits == 0

    @pytest.mark.parametrize("by", ["the old head", "one below", "a child", "a known child"])
    def test_a_rewrite_that_was_taken_back_before_it_was_collected(self, made, project, by):
        """The try that found it has marked commits, and got no further."""
        _, origin = made(commits=5, branch_patterns=["*"])
        first, *between, below, old = origin.commits
        known = origin.commit({"a.md": "next"}, branch="other", parents=[below])
        collect(project)
        origin.commit({"a.md": "other"}, parents=[first])
        origin.problems["history"] = GONE
        collect(project)
        mine = Commit.objects.filter(branch__name="main")
        assert mine.filter(unreachable=True).count() == 4
        origin.problems.clear()
        match by:
            case "the old head":
                origin.branches["main"] = old
            case "one below":
                origin.branches["main"] = below
            case "a child":
                origin.commit({"a.md": "last"}, parents=[below])
            case "a known child":
                origin.branches["main"] = known
        collect(project)
        gone = set() if by == "the old head" else {old}
        assert set(mine.filter(unreachable=True).values_list("sha", flat=True)) == gone
        there = set(mine.filter(unreachable=False).values_list("sha", flat=True))
        assert there == {first, *between, below, old, origin.head} - gone
        assert Branch.objects.get(name="main").complete

    def test_a_history_that_was_rewritten_and_whose_old_one_is_gone(self, made, project):
        repository, origin = made(commits=3)
        collect(project)
        first, second, third = origin.commits
        origin.commit({"a.md": "other"}, parents=[first])
        origin.forget(second)
        origin.forget(third)
        run = collect(project)
        assert "rewritten" in run.results.get().note
        assert len(shas(repository)) == 4

    def test_a_history_that_was_incomplete_and_no_longer_is(self, made, project):
        """Its beginning lies behind what was collected."""
        repository, origin = made(commits=4)
        whole = dict(origin.commits)
        first = next(iter(whole))
        origin.shallow = True
        origin.forget(first)
        collect(project)
        assert len(shas(repository)) == 3
        origin.shallow = False
        origin.commits = whole
        origin.compared.clear()
        run = collect(project)
        assert results(run) == [("main", "success", 1)]
        assert origin.compared == [first]

    def test_a_branch_that_was_deleted(self, made, project):
        repository, origin = made(branch_patterns=["main", "topic"])
        origin.commit({"b.md": "x"}, branch="topic", parents=[origin.head])
        collect(project)
        del origin.branches["topic"]
        run = collect(project)
        assert results(run) == [("main", "success", 0), ("topic", "success", 0)]
        assert "deleted" in run.results.get(branch_name="topic").note
        assert Branch.objects.get(name="topic").state == BranchState.GONE
        assert len(shas(repository, "topic")) == 4
        # The next one does not ask for it.
        assert results(collect(project)) == [("main", "success", 0)]

    def test_a_default_branch_with_another_name(self, made, project):
        repository, origin = made(branch="master")
        collect(project)
        origin.branches = {"main": origin.head}
        origin.default = "main"
        origin.commit({"a.md": "new"})
        run = collect(project)
        assert results(run) == [("main", "success", 1)]
        assert Branch.objects.get().name == "main"
        assert len(shas(repository, "main")) == 4

    def test_a_branch_that_appears(self, made, project):
        _, origin = made(branch_patterns=["main", "release/*"])
        collect(project)
        origin.commit({"b.md": "x"}, branch="release/1", parents=[origin.head])
        run = collect(project)
        assert results(run) == [("main", "success", 0), ("release/1", "success", 4)]
        check_counts(run)


class TestTrouble:
    def test_one_bad_target_does_not_stop_the_rest(self, made, project):
        good, _ = made("good")
        bad, origin = made("bad")
        origin.problems["heads"] = GONE
        run = collect(project)
        assert run.status == RunStatus.COMPLETED
        assert len(shas(good)) == 3
        failed = run.results.failed().get()
        assert (failed.repository, failed.error_message) == (bad, str(GONE))
        assert failed.attempts == 1
        bad.refresh_from_db()
        assert (bad.state, bad.state_message) == (State.NOT_FOUND, str(GONE))
        check_counts(run)

    def test_what_may_pass_is_tried_again(self, made, project, settings):
        _, origin = made()
        tries = []

        def heads():
            tries.append(1)
            if len(tries) < 3:
                raise AWAY
            return type(origin).heads(origin)

        origin.heads = heads
        run = collect(project)
        assert results(run) == [("main", "success", 3)]
        result = run.results.get()
        assert (result.attempts, result.last_error) == (3, str(AWAY))
        assert result.next_retry_at is None

    def test_but_not_for_ever(self, made, project):
        _, origin = made()
        origin.problems["heads"] = AWAY
        run = collect(project)
        result = run.results.get()
        assert (result.status, result.attempts) == (ResultStatus.FAILED, 3)
        assert origin.asked == ["heads"] * 3
        check_counts(run)

    def test_a_host_that_wants_to_be_left_alone_holds_no_worker(self, made, project):
        _, origin = made()
        origin.problems["heads"] = OriginProblem(
            State.UNREACHABLE, "Too many requests.", again=True, retry_after=300
        )
        run = start(actor=OPERATOR, project=project)
        perform_job(run.job)
        run.refresh_from_db()
        assert run.status == RunStatus.RUNNING
        result = run.results.get()
        assert (result.status, result.last_error) == (ResultStatus.PENDING, "Too many requests.")
        job = run.job
        assert job.state == "PENDING"
        assert job.due_at == result.next_retry_at

    def test_a_branch_in_the_middle(self, made, project):
        """What was stored of it stays, and the others of the repository go on."""
        repository, origin = made(commits=250, branch_patterns=["a", "main"])
        origin.branches["a"] = origin.head
        history = origin.history
        asked = []

        def broken(head, **options):
            asked.append(head)
            for batch in history(head, **options):
                yield batch
                if len(asked) == 1:
                    raise GONE

        origin.history = broken
        run = collect(project)
        assert [row[:2] for row in results(run)] == [("a", "success"), ("main", "failed")]
        assert len(shas(repository, "main")) == 100
        run = work_on(retry_failed(run, actor=OPERATOR))
        assert len(shas(repository, "main")) == 250
        assert results(run) == [("main", "success", 150)]

    def test_a_fault_of_our_own_is_told_without_its_words(self, made, project, caplog):
        _, origin = made()
        origin.problems["heads"] = KeyError("/secret/path")
        run = collect(project)
        message = run.results.get().error_message
        assert "KeyError" in message
        assert "/secret/path" not in message
        assert "/secret/path" in caplog.text

    def test_retrying_only_the_failed(self, made, project):
        made("good")
        _, origin = made("bad")
        origin.problems["heads"] = GONE
        run = collect(project)
        origin.problems.clear()
        again = retry_failed(run, actor=OPERATOR)
        assert (again.continues, again.total_targets) == (run, 1)
        again = work_on(again)
        assert results(again) == [("main", "success", 3)]
        with pytest.raises(Refusal, match="nothing"):
            retry_failed(again, actor=OPERATOR)

    def test_a_repository_that_is_removed_meanwhile(self, made, project):
        """In the middle of its visit: what is told of it then has no place to go."""
        kept, _ = made("kept")
        gone, origin = made("gone")
        heads = origin.heads
        removed = threading.Event()

        def slow():
            found = heads()
            removed.wait(5)
            return found

        origin.heads = slow
        run = start(actor=OPERATOR, project=project)
        remove = writing.take_heads

        def remove_first(*arguments):
            """When the other one has answered; in the main thread, which writes."""
            if not removed.is_set():
                remove_repository(repository=gone, actor=OPERATOR)
                removed.set()
            return remove(*arguments)

        with patch.object(writing, "take_heads", remove_first):
            run = work_on(run)
        assert run.status == RunStatus.COMPLETED
        assert results(run) == [("main", "success", 3)]
        assert len(shas(kept)) == 3
        check_counts(run)


class TestStarting:
    def test_one_at_a_time(self, made, project):
        made()
        run = start(actor=OPERATOR, project=project)
        with pytest.raises(Refusal) as refused:
            start(actor=OPERATOR, project=project)
        assert refused.value.code == "collection_running"
        assert refused.value.details == {"run_id": str(run.pk)}
        assert BulkCollectionRun.objects.count() == 1

    def test_nothing_to_collect(self, project):
        with pytest.raises(Refusal, match="nothing"):
            start(actor=OPERATOR, project=project)
        assert not BulkCollectionRun.objects.exists()

    def test_all_that_is_followed_and_not_paused(self, project):
        mine = make_repository(project)
        make_branch(mine, "main")
        make_branch(mine, "old", state=BranchState.GONE)
        make_repository(project, enabled=False)
        unknown = make_repository(None)
        run = start(actor=OPERATOR)
        targets = list(run.results.order_by("pk").values_list("repository", "branch_name"))
        assert targets == [(mine.pk, "main"), (unknown.pk, "HEAD")]
        assert run.total_targets == 2

    def test_summary(self, made, project, django_assert_num_queries):
        made("good")
        _, origin = made("bad")
        origin.problems["heads"] = GONE
        run = collect(project)
        with django_assert_num_queries(1):
            found = summary(run)
        assert (found.success_count, found.failed_count, found.pending_count) == (1, 1, 0)
        assert found.run_status == RunStatus.COMPLETED

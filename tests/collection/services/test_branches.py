"""Which branches are followed, and what is written down of those that are there."""

import time

import pytest

from collection.choices import BranchState, State
from collection.models import Branch
from collection.origins.data import Heads, OriginProblem
from collection.services.branches import (
    MOST_BRANCHES,
    mark_branches,
    matching_branches,
    note_heads,
    note_problem,
)
from glossary_site.errors import Refusal
from glossary_site.live.models import Event
from tests.collection.factories import a_sha, make_branch, make_commits, make_repository

pytestmark = pytest.mark.django_db


def heads(*names: str, default: str = "main", **more) -> Heads:
    return Heads({name: a_sha(name) for name in names}, default, **more)


@pytest.fixture
def repository(project):
    return make_repository(project, state=State.NEW, default_branch="")


def follow(repository, *patterns: str):
    repository.branch_patterns = list(patterns)
    repository.save()
    return repository


def states(repository) -> dict[str, str]:
    return dict(repository.branches.order_by("name").values_list("name", "state"))


class TestMatching:
    def test_the_default_branch_where_nothing_is_said(self, repository):
        assert matching_branches(repository, heads("main", "next")) == ["main"]

    @pytest.mark.parametrize(
        ("branch", "matching"),
        [("docs", ["docs", "next"]), ("next", ["next"]), ("", ["main", "next"])],
    )
    def test_the_branch_of_documents_is_followed_with_the_others(
        self, repository, branch, matching
    ):
        repository.document_patterns, repository.document_branch = ["*.md"], branch
        there = heads("main", "docs", "next", "other")
        assert matching_branches(follow(repository, "next"), there) == matching
        # Without documents nobody asks for it.
        repository.document_patterns = []
        assert matching_branches(repository, there) == ["next"]

    @pytest.mark.parametrize(
        ("patterns", "matching"),
        [
            (["next"], ["next"]),
            (["release/*"], ["release/1.0", "release/1.0/fix"]),
            (["*"], ["main", "Next", "next", "release/1.0", "release/1.0/fix"]),
            (["HEAD", "n*"], ["main", "next"]),
            (["?ext"], ["Next", "next"]),
            (["*fix", "next"], ["next", "release/1.0/fix"]),
            (["gone"], []),
        ],
        ids=["name", "slashes", "all", "default", "one sign", "names first", "nothing"],
    )
    def test_names_and_patterns(self, repository, patterns, matching):
        there = heads("next", "main", "release/1.0/fix", "release/1.0", "Next")
        assert matching_branches(follow(repository, *patterns), there) == matching

    @pytest.mark.parametrize(
        ("there", "before", "meant"),
        [
            (heads("work", default=""), "", ["work"]),
            (heads("main", "work", default=""), "", ["main"]),
            (heads("master", "work", default="main"), "", ["master"]),
            (heads("main", "work", default=""), "work", ["work"]),
            (heads("a", "b", default=""), "", []),
            (heads(default=""), "", []),
        ],
        ids=["the only one", "usual", "old usual", "as before", "nobody knows", "empty"],
    )
    def test_one_that_names_no_default_branch_that_it_has(self, repository, there, before, meant):
        repository.default_branch = before
        assert matching_branches(repository, there) == meant

    def test_a_pattern_full_of_stars_takes_no_time(self, repository):
        follow(repository, "*a" * 100 + "b")
        began = time.perf_counter()
        assert matching_branches(repository, heads("a" * 255)) == []
        assert time.perf_counter() - began < 1


class TestNotingHeads:
    def test_what_is_there(self, repository):
        follow(repository, "main", "release/*")
        branches = note_heads(repository, heads("main", "release/1", "wip"))
        assert [branch.name for branch in branches] == ["main", "release/1"]
        assert states(repository) == {"main": "followed", "release/1": "followed"}
        repository.refresh_from_db()
        assert (repository.state, repository.state_message) == (State.READY, "")
        assert repository.default_branch == "main"
        assert repository.checked_at is not None

    def test_the_given_row_learns_it_too(self, repository):
        note_heads(repository, heads("main"))
        assert (repository.state, repository.default_branch) == (State.READY, "main")

    def test_new_deleted_and_no_longer_wanted_ones(self, repository):
        follow(repository, "*")
        note_heads(repository, heads("main", "old", "wip"))
        follow(repository, "main", "new*")
        note_heads(repository, heads("main", "wip", "new-1"))
        assert states(repository) == {
            "main": BranchState.FOLLOWED,
            "new-1": BranchState.FOLLOWED,
            "old": BranchState.GONE,
            "wip": BranchState.LEFT_OUT,
        }
        follow(repository, "*")
        note_heads(repository, heads("main", "old", "wip"))
        assert states(repository)["old"] == BranchState.FOLLOWED

    def test_the_default_branch_has_another_name(self, repository):
        note_heads(repository, heads("master", "wip", default="master"))
        branch = repository.branches.get()
        Branch.objects.filter(pk=branch.pk).update(head=a_sha("x"), complete=True)
        make_commits(branch, 2)
        note_heads(repository, heads("main", "wip"))
        branch.refresh_from_db()
        assert (branch.name, branch.state, branch.head) == ("main", "followed", a_sha("x"))
        assert branch.commits.count() == 2
        assert repository.branches.count() == 1

    def test_another_branch_becomes_the_default_one(self, repository):
        """The old one is still there: nothing was renamed."""
        note_heads(repository, heads("master", default="master"))
        note_heads(repository, heads("main", "master"))
        assert states(repository) == {"main": "followed", "master": "left_out"}

    def test_a_rename_to_a_branch_that_is_known(self, repository):
        follow(repository, "*")
        note_heads(repository, heads("main", "master", default="master"))
        note_heads(repository, heads("main"))
        assert states(repository) == {"main": "followed", "master": "gone"}

    def test_a_rename_to_what_nobody_asked_for(self, repository):
        follow(repository, "master")
        note_heads(repository, heads("master", default="master"))
        note_heads(repository, heads("main"))
        assert states(repository) == {"master": "gone"}
        assert "“master”" in repository.state_message

    @pytest.mark.parametrize(
        ("there", "state", "words"),
        [
            (heads(default=""), State.EMPTY, "no branches"),
            (heads("main", shallow=True), State.SHALLOW, "part of its history"),
            (
                heads("main", moved_to="https://new.example.com/x"),
                State.MOVED,
                "https://new.example.com/x",
            ),
            (heads("a", "b", default=""), State.READY, "which branch is the default"),
        ],
        ids=["empty", "shallow", "moved", "no default"],
    )
    def test_states_in_words(self, repository, there, state, words):
        note_heads(repository, there)
        repository.refresh_from_db()
        assert repository.state == state
        assert words in repository.state_message

    def test_one_that_was_emptied(self, repository):
        note_heads(repository, heads("main"))
        note_heads(repository, heads(default=""))
        assert states(repository) == {"main": "gone"}

    def test_patterns_that_nothing_answers_to(self, repository):
        note_heads(follow(repository, "main", "rel/*", "nxt"), heads("main"))
        assert repository.state_message == "No branch matches “rel/*”, “nxt”."

    def test_names_that_are_too_long(self, repository):
        follow(repository, "*")
        note_heads(repository, heads("main", "x" * 255, "y" * 256))
        assert states(repository).keys() == {"main", "x" * 255}
        assert "1 branch is left out" in repository.state_message

    def test_too_many(self, repository, django_assert_max_num_queries):
        follow(repository, "*", "zebra")
        names = [f"b{number:04}" for number in range(MOST_BRANCHES + 10)]
        with django_assert_max_num_queries(10):
            branches = note_heads(repository, heads("main", "zebra", *names))
        assert [branch.name for branch in branches[:3]] == ["main", "zebra", "b0000"]
        assert repository.branches.count() == MOST_BRANCHES
        assert "12 more branches match than the 500" in repository.state_message

    def test_one_that_was_removed(self, repository):
        type(repository).objects.all().delete()
        with pytest.raises(Refusal) as refusal:
            note_heads(repository, heads("main"))
        assert refusal.value.code == "repository_gone"


class TestNotingProblems:
    def test_what_is_known_stays(self, repository):
        note_heads(repository, heads("main"))
        problem = OriginProblem(State.DENIED, "The token is not accepted.")
        note_problem(repository, problem)
        repository.refresh_from_db()
        assert (repository.state, repository.state_message) == (
            State.DENIED,
            "The token is not accepted.",
        )
        assert repository.default_branch == "main"
        assert states(repository) == {"main": "followed"}


def hints() -> int:
    return Event.objects.filter(type="repositories.changed").count()


def test_open_pages_hear_of_it_when_something_is_new(
    repository, django_capture_on_commit_callbacks
):
    def noted(note, *arguments) -> int:
        before = hints()
        with django_capture_on_commit_callbacks(execute=True):
            note(repository, *arguments)
        return hints() - before

    problem = OriginProblem(State.UNREACHABLE, "No answer.")
    assert noted(note_heads, heads("main")) == 1
    assert noted(note_heads, heads("main")) == 0
    assert noted(note_problem, problem) == 1
    assert noted(note_problem, problem) == 0
    follow(repository, "*")
    assert noted(note_heads, heads("main")) == 1
    assert noted(note_heads, heads("main", "next")) == 1


def test_another_wish_marks_what_is_known(repository):
    repository.default_branch = "main"
    for name in ("main", "next", "wip"):
        make_branch(repository, name)
    make_branch(repository, "old", state=BranchState.GONE)
    follow(repository, "next", "old")
    mark_branches(repository)
    assert states(repository) == {
        "main": "left_out",
        "next": "followed",
        "old": "gone",
        "wip": "left_out",
    }
    follow(repository)
    mark_branches(repository)
    assert states(repository)["main"] == "followed"

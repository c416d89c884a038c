"""`addrepository` and `collect`: what people type, what they get, and what is left behind."""

import json
import os
import signal
import sys
import threading
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from collection.choices import Kind, ResultStatus, RunStatus, State
from collection.management.arguments import repositories_named
from collection.management.commands import collect as command
from collection.models import Branch, BulkCollectionRun, Commit, Repository
from collection.origins.data import OriginProblem
from collection.services.collecting import going, visiting
from collection.services.starting import start
from glossary_site.errors import Refusal
from glossary_site.jobs import performing
from glossary_site.secrets import decrypt
from projects.access import OPERATOR
from projects.models import Project
from tests.collection.factories import make_repository
from tests.collection.git.building import make_source
from tests.collection.made import MemoryOrigin
from tests.collection.working import answering, work_on
from tests.factories import make_project

pytestmark = pytest.mark.django_db

# The work is done by threads, each with a connection of its own.
with_threads = pytest.mark.django_db(transaction=True)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def quickly(monkeypatch, settings):
    """Nobody looks at the bar."""
    settings.COLLECTION_BACKOFF_SECONDS = 0.01
    for module in (command, performing, visiting, going):
        monkeypatch.setattr(module, "LOOK_SECONDS", 0.02)


@pytest.fixture(autouse=True)
def sources(tmp_path, settings):
    """The one folder below which repositories may be."""
    settings.DATA_DIR = tmp_path / "data"
    settings.GIT_ROOTS = [tmp_path / "sources"]
    return tmp_path / "sources"


@pytest.fixture
def source(sources):
    """Two commits on `release/1`, and a third on `main`."""
    made = make_source(sources / "handbook.git")
    first = made.commit("main", {"docs/berths.md": b"# Berths\n\nA place at the quay.\n"})
    second = made.commit("main", {"docs/tides.md": b"# Tides\n"}, parents=[first])
    made.write()
    made.point("release/1", second)
    made.commit("main", {"code.py": b"print(1)\n"}, parents=[second])
    made.write()
    return made


@pytest.fixture
def handbook(source):
    return source.path


def run(name: str, *arguments: object, err: StringIO | None = None) -> tuple[str, str]:
    """What it writes to standard output, and to standard error."""
    out, err = StringIO(), err or StringIO()
    call_command(name, *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refused(name: str, *arguments: object, returncode: int) -> str:
    with pytest.raises(CommandError) as error:
        run(name, *arguments)
    assert error.value.returncode == returncode, error.value
    return str(error.value)


class TestAdding:
    def test_a_folder_with_everything_said(self, project, handbook, owner):
        out, _err = run(
            "addrepository",
            *("harbour", handbook, "--branch", "main", "--branch", "release/*"),
            *("--name", "Manual", "--since", "2020-01-31", "--folder", "manual"),
            *("--documents", "docs/*.md", "--documents", "!docs/tides.md"),
            *("--document-branch", "main", "--as", "olive"),
        )
        repository = Repository.objects.get()
        assert (repository.project, repository.added_by) == (project, owner)
        assert (repository.kind, repository.address) == (Kind.LOCAL, str(handbook))
        assert (repository.name, repository.since.year) == ("Manual", 2020)
        assert repository.branch_patterns == ["main", "release/*"]
        assert repository.document_patterns == ["docs/*.md", "!docs/tides.md"]
        assert (repository.document_folder, repository.document_branch) == ("manual", "main")
        assert (repository.state, repository.default_branch) == (State.READY, "main")
        assert out.splitlines() == [
            f"Added “Manual” to “Harbour”: {handbook} (Folder on this machine).",
            "It has 2 branches; followed: 2 (main, release/1).",
            f"Collect its commits with: manage.py collect {project.pk} --repository "
            f"{repository.pk}",
        ]

    def test_from_where_one_is(self, project, handbook, monkeypatch):
        monkeypatch.chdir(handbook.parent)
        run("addrepository", project.pk, "handbook.git")
        assert Repository.objects.get().address == str(handbook)

    def test_with_the_project(self, handbook):
        assert "--create" in refused("addrepository", "Tides", handbook, returncode=2)
        out, _err = run("addrepository", "Tides", handbook, "--create")
        assert out.startswith("Made the project “Tides”.\n")
        assert Project.objects.get().repositories.count() == 1
        refused("addrepository", " ", handbook, "--create", returncode=2)

    def test_for_all_projects(self, project, handbook):
        out, _err = run("addrepository", "--for-all", handbook)
        assert "for all projects" in out
        assert Repository.objects.get().project is None
        refused("addrepository", handbook, returncode=2)
        refused("addrepository", "harbour", handbook, "--for-all", returncode=2)
        assert "operators" in refused(
            "addrepository", "--for-all", handbook, "--as", "olive", returncode=1
        )

    def test_only_for_owners(self, project, editor, handbook):
        message = refused("addrepository", "harbour", handbook, "--as", "edda", returncode=1)
        assert "Owner" in message
        assert not Repository.objects.exists()

    def test_a_folder_that_is_not_allowed(self, project, handbook, settings):
        for roots in ([], [handbook / "docs"]):
            settings.GIT_ROOTS = roots
            message = refused("addrepository", "harbour", handbook, returncode=1)
            assert f"GLOSSARY_GIT_ROOTS={handbook}," in message

    def test_twice(self, project, handbook):
        run("addrepository", "harbour", handbook)
        assert "here already" in refused("addrepository", "harbour", handbook, returncode=1)

    def test_an_empty_one(self, project, sources):
        make_source(sources / "new.git")
        out, _err = run("addrepository", "harbour", sources / "new.git")
        assert "Empty.\nIt has no branches yet." in out

    def test_one_that_does_not_answer(self, project, monkeypatch):
        """It is added: what is wrong may be mended over there."""
        origin = MemoryOrigin()
        origin.problems["heads"] = OriginProblem(State.UNREACHABLE, "Nobody is at home.")
        with answering(Everyone(origin)):
            message = refused(
                "addrepository", "harbour", "https://93.184.215.14/team/app.git", returncode=3
            )
        assert message.startswith("It was added, but")
        assert "Nobody is at home." in message
        assert Repository.objects.get().state == State.UNREACHABLE

    def test_without_asking_and_with_a_secret(self, project, tmp_path, monkeypatch):
        (tmp_path / "token").write_text("glpat-secret\n")
        address = "https://93.184.215.14/team/app"
        out, err = run(
            "addrepository",
            *("harbour", f"{address}.git", "--kind", "gitlab", "--username", "deploy"),
            *("--secret-file", tmp_path / "token", "--no-test"),
        )
        repository = Repository.objects.get()
        assert (repository.kind, repository.address) == (Kind.GITLAB, address)
        assert (repository.username, decrypt(repository.secret)) == ("deploy", "glpat-secret")
        assert repository.state == State.NEW
        assert "glpat" not in out + err
        monkeypatch.setattr(sys, "stdin", StringIO("from-a-pipe"))
        run("addrepository", "--for-all", address, "--no-test", "--secret-file", "-")
        assert decrypt(Repository.objects.get(project=None).secret) == "from-a-pipe"
        refused("addrepository", "harbour", address, "--secret-file", tmp_path / "x", returncode=2)

    @pytest.mark.parametrize(
        "wrong",
        [("--branch", "a..b"), ("--documents", "!x"), ("--since", "2999-01-01")],
        ids=["branch", "documents", "since"],
    )
    def test_what_is_wrong(self, project, handbook, wrong):
        refused("addrepository", "harbour", handbook, *wrong, returncode=1)
        assert not Repository.objects.exists()


class Everyone(dict):
    """The same answers for every repository."""

    def __init__(self, origin: MemoryOrigin) -> None:
        self._origin = origin

    def __missing__(self, key: int) -> MemoryOrigin:
        return self._origin


@pytest.fixture
def repository(project, handbook):
    return make_repository(
        project,
        "handbook",
        kind=Kind.LOCAL,
        address=str(handbook),
        state=State.NEW,
        default_branch="",
        branch_patterns=["main", "release/*"],
        document_patterns=["docs/*.md"],
    )


class TestCollecting:
    @with_threads
    def test_a_project_from_the_beginning_and_on(self, project, repository, source):
        out, err = run("collect", "harbour")
        done = BulkCollectionRun.objects.get()
        assert (done.status, done.project, done.triggered_by) == ("completed", project, "command")
        lines = out.splitlines()
        assert lines[0].split() == ["REPOSITORY", "BRANCH", "RESULT", "NEW", "COMMITS", "NOTE"]
        assert lines[1].split()[:4] == ["handbook", "main", "Success", "3"]
        assert lines[2].split()[:4] == ["handbook", "release/1", "Success", "2"]
        assert lines[3].startswith("2 branches, 2 collected, 5 new commits, ")
        assert err == ""
        paths = project.documents.values_list("path", flat=True)
        assert sorted(paths) == ["docs/berths.md", "docs/tides.md"]
        source.commit("main", {"code.py": b"print(2)\n"}, parents=[source.head()])
        source.write()
        out, _err = run("collect", project.pk)
        assert out.splitlines()[1].split()[:4] == ["handbook", "main", "Success", "1"]
        assert "1 branch has nothing new." in out
        assert Commit.objects.filter(branch__name="main").count() == 4
        out, _err = run("collect")
        assert out.startswith("2 branches have nothing new.\n2 branches, 2 collected, 0 new")

    @with_threads
    def test_for_programs(self, repository):
        out, _err = run("collect", "--all", "--format", "json")
        told = json.loads(out)
        done = BulkCollectionRun.objects.get()
        assert (told["run_id"], told["run_status"]) == (str(done.pk), "completed")
        assert done.project is None
        counts = ("total_targets", "success_count", "failed_count", "pending_count", "new_commits")
        assert [told[name] for name in counts] == [2, 2, 0, 0, 5]
        first = told["results"][0]
        assert (first["repository"], first["branch_name"]) == ("handbook", "main")
        assert (first["status"], first["new_commits_count"]) == ("success", 3)
        assert first["error_message"] is None

    @with_threads
    def test_chosen_ones(self, project, repository, sources):
        make_repository(project, "other")
        run("collect", "--repository", repository.pk, "--branch", "release/1")
        assert Branch.objects.get(complete=True).name == "release/1"
        done = BulkCollectionRun.objects.get()
        assert (done.total_targets, done.project) == (1, project)

    def test_by_any_of_its_names(self, project, repository, outsider):
        shared = make_repository(None, "shared")
        for name in ("Handbook", str(repository.pk), repository.address):
            assert repositories_named([name], project=None, actor=OPERATOR) == [repository]
        assert repositories_named(["shared"], project=project, actor=OPERATOR) == [shared]
        with pytest.raises(Refusal, match="There is no repository"):
            repositories_named(["handbook"], project=None, actor=outsider)

    @with_threads
    def test_since_a_day(self, project, repository, source):
        run("collect", "--since", "2024-01-01")
        assert not Commit.objects.exists()

    @with_threads
    def test_what_fails_is_told_and_tried_again(self, project, repository):
        with pytest.raises(CommandError) as error:
            run(
                "collect",
                "harbour",
                "--branch",
                "main",
                "--branch",
                "nope",
                err=(err := Terminal()),
            )
        assert error.value.returncode == 1
        assert "1 branch could not be collected." in str(error.value)
        assert "failed  handbook nope: There is no branch “nope” in it." in err.getvalue()
        first = BulkCollectionRun.objects.get()
        out = StringIO()
        with pytest.raises(CommandError):
            call_command("collect", "--retry", "last", stdout=out, stderr=StringIO())
        again = BulkCollectionRun.objects.get(continues=first)
        assert again.total_targets == 1
        assert f"manage.py collect --retry {again.pk}" in out.getvalue()

    @with_threads
    def test_trouble_that_passes_is_told_as_such(self, project, monkeypatch):
        told = threading.Event()

        class Busy(MemoryOrigin):
            def heads(self):
                if self.asked:
                    assert told.wait(20)
                    return super().heads()
                self.asked.append("heads")
                raise OriginProblem(State.UNREACHABLE, "It is busy.", again=True)

        show = command.Display.show

        def showing(display, run):
            was_tried = run.results.filter(attempts=1).exists()
            now = show(display, run)
            if was_tried:
                told.set()
            return now

        monkeypatch.setattr(command.Display, "show", showing)
        repository = make_repository(project, "app")
        origin = Busy()
        origin.commit({"a.md": "A"})
        with answering({repository.pk: origin}):
            _out, err = run("collect", "harbour")
        assert "again   app (default branch): It is busy. (try 2)" in err
        assert BulkCollectionRun.objects.get().success_count == 1

    @with_threads
    def test_one_at_a_time(self, project, repository):
        active = start(actor=OPERATOR, project=project)
        assert "running already" in refused("collect", "harbour", returncode=1)
        assert BulkCollectionRun.objects.get() == active

    @with_threads
    def test_nothing_to_collect(self, project):
        assert "Add a repository" in refused("collect", "harbour", returncode=1)

    @pytest.mark.parametrize(
        "wrong",
        [
            ("nowhere",),
            ("harbour", "--all"),
            ("harbour", "--repository", "nope"),
            ("--branch", "main"),
            ("--retry", "last", "harbour"),
            ("--retry", "last", "--resume", "last"),
            ("--resume", "last"),
            ("--retry", "not-a-number"),
            ("harbour", "--here", "--no-wait"),
        ],
        ids=lambda words: " ".join(words),
    )
    def test_wrong_usage(self, project, wrong):
        refused("collect", *wrong, returncode=2)

    def test_a_name_that_two_have(self, project, repository):
        other = make_repository(project, "Handbook")
        message = refused("collect", "--repository", "handbook", returncode=2)
        assert f"{repository.pk} (" in message
        assert f"{other.pk} (" in message


class TestWhoMay:
    @with_threads
    def test_editors_their_project(self, project, editor, repository):
        run("collect", "harbour", "--as", "edda")
        assert BulkCollectionRun.objects.get().actor == editor
        run("collect", "--repository", repository.pk, "--branch", "main", "--as", "edda")

    def test_nobody_else_anything(self, project, viewer, editor, outsider, repository):
        shared = make_repository(None)
        assert "Editor" in refused("collect", "harbour", "--as", "vera", returncode=1)
        refused("collect", "harbour", "--as", "otto", returncode=2)
        assert "operators" in refused("collect", "--as", "edda", returncode=1)
        assert "operators" in refused(
            "collect", "--repository", shared.pk, "--as", "edda", returncode=1
        )
        refused("collect", "--repository", repository.pk, "--as", "vera", returncode=1)
        assert not BulkCollectionRun.objects.exists()

    @with_threads
    def test_only_what_they_may_see(self, project, outsider, editor, repository):
        done = work_on(start(actor=OPERATOR, project=project, branch_names=["nope"]))
        assert done.failed_count == 1
        refused("collect", "--retry", done.pk, "--as", "otto", returncode=2)
        everything = work_on(start(actor=OPERATOR))
        refused("collect", "--retry", everything.pk, "--as", "edda", returncode=1)
        make_project("Elsewhere", owner=outsider)
        refused("collect", "--repository", repository.pk, "--as", "otto", returncode=2)


@with_threads
class TestStopping:
    def test_ctrl_c_stops_it_and_the_rest_can_be_resumed(self, project, monkeypatch):
        repository = make_repository(project, "app", branch_patterns=["*"], default_branch="")
        origin = MemoryOrigin()
        for name in ("main", "next", "wip"):
            origin.commit({"a.md": name}, branch=name)
        reached = threading.Event()
        history = origin.history

        def slow(*arguments, **more):
            """It comes to the first branch, and stays there until it is stopped."""
            reached.set()
            assert stopped.wait(10)
            return history(*arguments, **more)

        stopped = threading.Event()
        monkeypatch.setattr(origin, "history", slow)
        show = command.Display.show

        def showing(display, run):
            if reached.is_set() and not stopped.is_set() and run.is_running:
                os.kill(os.getpid(), signal.SIGINT)
            now = show(display, run)
            if not now.is_running:
                stopped.set()
            return now

        monkeypatch.setattr(command.Display, "show", showing)
        before = signal.getsignal(signal.SIGINT)
        out = StringIO()
        with answering({repository.pk: origin}):
            with pytest.raises(CommandError) as error:
                call_command("collect", "harbour", stdout=out, stderr=StringIO())
            assert error.value.returncode == 130
            assert signal.getsignal(signal.SIGINT) is before
            done = BulkCollectionRun.objects.get()
            assert done.status == RunStatus.CANCELLED
            assert done.results.filter(status=ResultStatus.PENDING).count() == 3
            assert f"manage.py collect --resume {done.pk}" in out.getvalue()
            run("collect", "--resume", done.pk)
        assert Commit.objects.count() == 3
        assert BulkCollectionRun.objects.get(continues=done).success_count == 3


@with_threads
class TestWorkers:
    def test_where_one_runs_it_does_the_work(self, project, repository, monkeypatch):
        monkeypatch.setattr(command, "worker_is_there", lambda: True)
        show = command.Display.show
        done = []

        def showing(display, run):
            if not done:
                done.append(work_on(run))
            return show(display, run)

        monkeypatch.setattr(command.Display, "show", showing)
        out, _err = run("collect", "harbour")
        assert "5 new commits" in out
        assert BulkCollectionRun.objects.get().job.assigned_worker == "test:long:1"

    def test_unless_it_is_to_be_done_here(self, project, repository, monkeypatch):
        monkeypatch.setattr(command, "worker_is_there", lambda: True)
        out, _err = run("collect", "harbour", "--here")
        assert "5 new commits" in out

    def test_leaving_it_to_one(self, project, repository):
        out, _err = run("collect", "harbour", "--no-wait")
        waiting = BulkCollectionRun.objects.get()
        assert waiting.is_running
        assert out == f"Started collection {waiting.pk}.\n"
        assert work_on(waiting).success_count == 2

    def test_none_is_there_in_a_test(self):
        assert not command.worker_is_there()


@with_threads
class TestTheTerminal:
    def test_a_bar_that_leaves_nothing_behind(self, project, repository):
        err = Terminal()
        run("collect", "harbour", err=err)
        assert err.getvalue().endswith("\r\x1b[K")

    def test_quiet(self, project, repository):
        _out, err = run("collect", "harbour", "--verbosity", 0)
        assert err == ""

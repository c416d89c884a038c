"""Repositories are added, changed, paused and removed: what is written, told and kept secret."""

import json
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from collection.choices import Kind, ResultStatus, RunStatus, State
from collection.models import (
    Branch,
    BulkCollectionResult,
    BulkCollectionRun,
    Commit,
    CommitPath,
    Repository,
    RepositoryFile,
    VersionOrigin,
)
from collection.services.fields import BadField
from collection.services.repositories import (
    add_repository,
    change_repository,
    remove_repository,
    set_enabled,
)
from glossary_site.errors import Refusal
from glossary_site.jobs.models import AuditEntry
from glossary_site.live.models import Event
from glossary_site.secrets import decrypt
from projects.access import OPERATOR
from projects.choices import Source
from projects.models import Document
from projects.news import news_of
from projects.services.documents import store_document
from tests.collection.factories import (
    DAY_ONE,
    make_branch,
    make_collection,
    make_commit,
    make_commits,
    make_repository,
    make_touches,
)
from tests.collection.services.test_keys import make_key
from tests.factories import make_document, make_project

pytestmark = pytest.mark.django_db

# A public address that needs no name server; nothing is sent to it.
HOST = "https://93.184.215.14"
ADDRESS = f"{HOST}/team/app.git"
TOKEN = "glpat-very-secret"


def add(project, address: str = ADDRESS, **fields) -> Repository:
    return add_repository(project=project, address=address, actor=OPERATOR, **fields)


def change(repository, **changes) -> Repository:
    return change_repository(repository=repository, actor=OPERATOR, **changes)


def told(project) -> list[str]:
    """The news of repositories as sentences, without their markup."""
    events = Event.objects.filter(stream__name=project.stream, type__startswith="repositor")
    return [event.type for event in events.order_by("number")]


def sentences(project) -> list[str]:
    events = Event.objects.filter(stream__name=project.stream, type__startswith="repository.")
    texts = [str(news_of(event).sentence) for event in events.order_by("number")]
    return [text.replace("<strong>", "").replace("</strong>", "") for text in texts]


class TestAdding:
    def test_everything_that_is_said(self, project, owner):
        since = timezone.now() - timedelta(days=30)
        repository = add_repository(
            project=project,
            address=ADDRESS,
            actor=owner,
            username="deploy",
            secret=f" {TOKEN}\n",
            branch_patterns=["main", "release/*", "main"],
            since=since,
            document_patterns=["docs/**/*.md"],
            document_folder="handbook/",
            document_branch="main",
        )
        repository.refresh_from_db()
        assert (repository.project, repository.added_by) == (project, owner)
        assert (repository.name, repository.kind, repository.address) == ("app", "git", ADDRESS)
        assert (repository.state, repository.enabled) == (State.NEW, True)
        assert repository.branch_patterns == ["main", "release/*"]
        assert repository.since == since
        assert repository.document_patterns == ["docs/**/*.md"]
        assert (repository.document_folder, repository.document_branch) == ("handbook", "main")
        assert repository.username == "deploy"
        assert decrypt(repository.secret) == TOKEN

    def test_it_is_told_and_the_secret_is_not(self, project, owner):
        repository = add_repository(project=project, address=ADDRESS, actor=owner, secret=TOKEN)
        assert told(project) == ["repository.added", "repositories.changed"]
        assert sentences(project) == ["olive added the repository app."]
        entry = AuditEntry.objects.get(target_type="collection.repository")
        assert (entry.actor, entry.action) == ("olive", "add")
        assert (entry.before, entry.after["secret"]) == ({}, "stored")
        written = json.dumps([entry.after, *Event.objects.values_list("payload", flat=True)])
        assert TOKEN not in written
        assert repository.secret not in written

    def test_two_of_one_name_are_told_apart(self, project):
        assert add(project).name == "app"
        assert add(project, f"{HOST}/other/app.git").name == "other/app"
        assert add(project, f"{HOST}/third/app.git", name="Mine").name == "Mine"

    def test_the_same_address_twice(self, project):
        first = add(project, name="First")
        with pytest.raises(Refusal) as refusal:
            add(project)
        assert (refusal.value.code, refusal.value.status) == ("repository_exists", 409)
        assert refusal.value.details == {"repository_id": first.pk}
        assert "“First”" in str(refusal.value)
        assert Repository.objects.count() == 1
        # Another project, and all projects together, may have it as well.
        add(make_project())
        add(None)
        with pytest.raises(Refusal, match="is here already"):
            add(None)

    def test_for_all_projects(self, project):
        repository = add(None, branch_patterns=["*"])
        assert repository.project is None
        assert told(project) == []
        with pytest.raises(BadField) as refusal:
            add(None, f"{HOST}/team/docs.git", document_patterns=["*.md"])
        assert refusal.value.field == "document_patterns"

    def test_what_is_wrong_is_said_of_its_field(self, project):
        with pytest.raises(Refusal) as refusal:
            add(project, "ext::sh -c id")
        assert refusal.value.status == 400
        assert "address" in refusal.value.details["fields"]
        assert not Repository.objects.exists()
        assert not Event.objects.filter(type__startswith="repositor").exists()

    def test_ssh_with_a_deploy_key(self, project, tmp_path):
        key = make_key(tmp_path)
        repository = add(project, "git@93.184.215.14:team/app.git", secret=key)
        assert repository.address == "ssh://git@93.184.215.14/team/app.git"
        stored = decrypt(repository.secret)
        assert stored.startswith("-----BEGIN OPENSSH PRIVATE KEY-----\n")

    def test_into_a_project_that_was_deleted(self, project):
        type(project).objects.all().delete()
        with pytest.raises(Refusal) as refusal:
            add(project)
        assert refusal.value.code == "project_gone"


class TestChanging:
    def test_what_is_named_and_nothing_else(self, project, owner):
        repository = add(project, secret=TOKEN, branch_patterns=["main"])
        change_repository(
            repository=repository, actor=owner, name="Renamed", branch_patterns=["main", "x"]
        )
        assert (repository.name, repository.branch_patterns) == ("Renamed", ["main", "x"])
        assert decrypt(repository.secret) == TOKEN
        entry = AuditEntry.objects.get(action="change")
        assert entry.before == {"name": "app", "branch_patterns": ["main"]}
        assert entry.after == {"name": "Renamed", "branch_patterns": ["main", "x"]}
        assert sentences(project)[-1] == "olive changed the repository Renamed."

    def test_nothing_where_nothing_differs(self, project):
        repository = add(project, secret=TOKEN)
        change(repository, name="app", address=ADDRESS, secret="", branch_patterns=[])
        assert not AuditEntry.objects.filter(action="change").exists()
        assert len(told(project)) == 2
        assert decrypt(repository.secret) == TOKEN

    def test_secrets(self, project):
        repository = add(project, secret=TOKEN)
        assert decrypt(change(repository, secret="another").secret) == "another"
        assert AuditEntry.objects.get(action="change").after == {"secret": "new"}
        assert change(repository, clear_secret=True).secret == ""
        assert AuditEntry.objects.filter(action="change").latest("pk").after == {"secret": "none"}

    @pytest.mark.parametrize(
        "changes",
        [{"address": f"{HOST}/team/other.git"}, {"address": "https://93.184.215.15/team/app.git"}],
        ids=["path", "host"],
    )
    def test_a_secret_does_not_go_elsewhere(self, project, changes):
        repository = add(project, secret=TOKEN)
        Repository.objects.update(
            state=State.READY, state_message="x", default_branch="main", host_keys="k"
        )
        change(repository, **changes)
        assert repository.address == changes["address"]
        assert repository.secret == ""
        assert (repository.state, repository.state_message) == (State.NEW, "")
        assert (repository.default_branch, repository.host_keys) == ("", "")

    def test_unless_a_new_one_comes_along(self, project):
        repository = add(project, secret=TOKEN)
        change(repository, address=f"{HOST}/team/other.git", secret="new one")
        assert decrypt(repository.secret) == "new one"

    def test_nor_to_another_kind_of_door(self, project):
        repository = add(project, secret=TOKEN)
        change(repository, kind=Kind.GITLAB)
        assert (repository.kind, repository.address) == ("gitlab", f"{HOST}/team/app")
        assert repository.secret == ""

    @pytest.mark.parametrize(
        "changes", [{"secret": TOKEN}, {"kind": Kind.GITLAB}], ids=["secret", "kind"]
    )
    def test_nor_to_an_address_that_was_not_seen(self, project, changes):
        repository = add(project)
        elsewhere = f"{HOST}/eve/app.git"
        change(Repository.objects.get(), address=elsewhere)
        with pytest.raises(Refusal) as refusal:
            change(repository, **changes)
        assert refusal.value.code == "repository_changed"
        assert Repository.objects.get().secret == ""
        # What is not about the address goes well.
        assert change(repository, name="Mine").address == elsewhere

    def test_the_key_of_a_host_can_be_forgotten(self, project):
        repository = add(project, secret=TOKEN)
        Repository.objects.update(host_keys="k")
        change(repository, forget_host_keys=True)
        assert repository.host_keys == ""
        assert decrypt(repository.secret) == TOKEN

    def test_the_address_of_another_one(self, project):
        first, second = add(project), add(project, f"{HOST}/team/other.git")
        with pytest.raises(Refusal) as refusal:
            change(second, address=ADDRESS)
        assert refusal.value.details == {"repository_id": first.pk}
        second.refresh_from_db()
        assert second.address == f"{HOST}/team/other.git"

    def test_branches_are_marked_anew(self, project):
        repository = make_repository(project, branch_patterns=["*"])
        for name in ("main", "next"):
            make_branch(repository, name)
        change(repository, branch_patterns=["next"])
        assert dict(repository.branches.values_list("name", "state")) == {
            "main": "left_out",
            "next": "followed",
        }

    def test_an_earlier_date_has_the_history_read_anew(self, project):
        repository = make_repository(project, since=DAY_ONE)
        branch = make_branch(repository, head="x" * 40, complete=True)
        change(repository, since=DAY_ONE + timedelta(days=1))
        branch.refresh_from_db()
        assert (branch.head, branch.complete) == ("x" * 40, True)
        change(repository, since=None)
        branch.refresh_from_db()
        assert (branch.head, branch.complete) == ("", False)

    def test_what_is_no_setting(self, project):
        with pytest.raises(TypeError, match="state"):
            change(add(project), state="ready")

    def test_one_that_was_removed(self, project):
        repository = add(project)
        Repository.objects.all().delete()
        with pytest.raises(Refusal) as refusal:
            change(repository, name="x")
        assert (refusal.value.code, refusal.value.status) == ("repository_gone", 404)

    def test_pausing_and_going_on(self, project, owner):
        repository = add(project)
        for enabled in (False, False, True):
            set_enabled(repository=repository, enabled=enabled, actor=owner)
            assert Repository.objects.get().enabled is enabled
        assert sentences(project)[1:] == [
            "olive paused the repository app.",
            "olive has the repository app collected again.",
        ]
        actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
        assert list(actions) == ["add", "pause", "resume"]


class TestRemoving:
    def test_what_was_collected_goes_and_the_documents_stay(
        self, project, owner, django_capture_on_commit_callbacks
    ):
        repository, other = make_repository(project, "app"), make_repository(project)
        for each in (repository, other):
            make_touches(make_commits(make_branch(each), 3)[0], ["a.md"])
        document = make_document(project, "a.md")
        RepositoryFile.objects.create(
            repository=repository, path="a.md", blob="b", document=document
        )
        VersionOrigin.objects.create(
            document=document, version=1, repository=repository, sha="s", path="a.md"
        )
        mirror = settings.DATA_DIR / "git" / f"{repository.pk}.git"
        mirror.mkdir(parents=True)
        with django_capture_on_commit_callbacks(execute=True):
            assert remove_repository(repository=repository, actor=owner) == 0
            assert mirror.exists()
        assert not mirror.exists()
        assert Repository.objects.get() == other
        for model in (Branch, CommitPath):
            assert model.objects.get().repository_id == other.pk
        assert Commit.objects.count() == 3
        assert not RepositoryFile.objects.exists()
        assert not VersionOrigin.objects.exists()
        assert Document.objects.get() == document
        assert sentences(project) == ["olive removed the repository app."]
        entry = AuditEntry.objects.get(action="remove")
        assert entry.before["address"] == repository.address

    def test_with_its_documents_but_those_of_others(self, project):
        repository, other = make_repository(project), make_repository(project)
        ids = [
            store_document(
                project=project, path=f"{name}.md", content="x", source=source, actor=OPERATOR
            ).document_id
            for name, source in zip("abcd", [Source.GIT] * 3 + [Source.UPLOAD], strict=True)
        ]
        mine, shared, alone, uploaded = Document.objects.filter(pk__in=ids).order_by("path")
        files = [(repository, mine), (repository, shared), (other, shared), (repository, uploaded)]
        for each, document in files:
            RepositoryFile.objects.create(
                repository=each, path=document.path, blob="b", document=document
            )
        deleted = remove_repository(repository=repository, actor=OPERATOR, delete_documents=True)
        assert deleted == 1
        assert set(Document.objects.all()) == {shared, alone, uploaded}

    def test_collections_count_what_is_left(self, project):
        repository, other = make_repository(project), make_repository(project)
        running = make_collection(project, [(repository, "main"), (other, "main"), (other, "x")])
        ended = make_collection(
            project, [(repository, "main"), (other, "main")], status=RunStatus.COMPLETED
        )
        remove_repository(repository=repository, actor=OPERATOR)
        running.refresh_from_db()
        ended.refresh_from_db()
        assert (running.total_targets, running.pending_count) == (2, 2)
        assert (ended.total_targets, ended.success_count, ended.pending_count) == (1, 1, 0)
        assert BulkCollectionResult.objects.filter(status=ResultStatus.PENDING).count() == 2
        assert BulkCollectionRun.objects.running().get() == running

    def test_one_for_all_projects(self, project):
        repository = make_repository(None)
        make_commit(make_branch(repository))
        remove_repository(repository=repository, actor=OPERATOR, delete_documents=True)
        assert not Commit.objects.exists()

    def test_twice(self, project):
        repository = add(project)
        again = Repository.objects.get()
        remove_repository(repository=repository, actor=OPERATOR)
        with pytest.raises(Refusal) as refusal:
            remove_repository(repository=again, actor=OPERATOR)
        assert refusal.value.code == "repository_gone"

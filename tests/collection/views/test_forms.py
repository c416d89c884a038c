"""Adding a repository and changing one: what was typed is not lost, and no key is ever shown."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from collection.choices import Kind, State
from collection.models import Repository
from collection.origins.data import OriginProblem
from glossary_site.secrets import decrypt, encrypt
from tests.collection.factories import make_repository
from tests.collection.views.visiting import HTMX, send, visit, words_of

pytestmark = pytest.mark.django_db

# An address that needs no name server.
ADDRESS = "https://93.184.215.14/team/handbook.git"
TYPED = {
    "address": ADDRESS,
    "kind": "",
    "name": "The handbook",
    "username": "reader",
    "token": "s3cr3t-token",
    "deploy_key": "",
    "branch_patterns": "main\r\nrelease/*\r\n",
    "since": "2024-01-31",
    "document_patterns": "docs/**/*.md\r\n",
    "document_folder": "handbook",
    "document_branch": "main",
}


def add(client, project, *, headers=None, **changes):
    return send(client, "repository-add", project.pk, headers=headers, **TYPED | changes)


def edit(client, repository, *, headers=None, **changes):
    args = [repository.project_id, repository.pk]
    return send(client, "repository-edit", *args, headers=headers, **TYPED | changes)


class TestAdding:
    def test_by_everything_that_can_be_said(self, owning, project):
        page = add(owning, project)
        assert "“The handbook” is added." in page.text
        made = Repository.objects.get()
        assert (made.project, made.kind, made.address) == (project, Kind.GIT, ADDRESS)
        assert (made.name, made.username) == ("The handbook", "reader")
        assert decrypt(made.secret) == "s3cr3t-token"
        assert made.branch_patterns == ["main", "release/*"]
        assert made.since == datetime(2024, 1, 31, tzinfo=UTC)
        assert made.document_patterns == ["docs/**/*.md"]
        assert (made.document_folder, made.document_branch) == ("handbook", "main")

    def test_is_for_owners(self, reading, editing, project):
        address = reverse("repository-add", args=[project.pk])
        for client in (reading, editing):
            assert client.get(address).status_code == 403
            assert client.post(address, TYPED).status_code == 403
        assert not Repository.objects.exists()

    @pytest.mark.parametrize(
        ("field", "typed", "sentence"),
        [
            ("address", "", "A repository needs its address."),
            ("address", "ext::sh -c whoami", ""),
            ("branch_patterns", "main\nno branch", "cannot be the name of a branch"),
            ("since", "the other day", "Give a date, such as 2024-01-31."),
            ("since", "2999-01-01", "in the future"),
            ("document_patterns", "!only.md", "only take out what another one takes in"),
            ("document_branch", "release/*", "give its name, not a pattern"),
        ],
        ids=["none", "protocol", "branch", "no-date", "future", "paths", "pattern"],
    )
    def test_what_is_wrong_is_told_beside_its_field(self, owning, project, field, typed, sentence):
        page = add(owning, project, **{field: typed})
        assert page.status_code == 422
        assert not Repository.objects.exists()
        form = page.context["form"]
        assert sentence in str(form.errors[field])
        assert f'id="id_{field}_error"' in page.text
        assert "It was not asked" not in page.text
        # Everything is as it was typed.
        for name, value in (TYPED | {field: typed}).items():
            if name not in ("token", "deploy_key"):
                assert form[name].value() == value

    @pytest.mark.parametrize("field", ["token", "deploy_key"])
    def test_a_refused_form_does_not_carry_the_key(self, owning, project, field):
        typed = {"token": "", "deploy_key": "", field: "s3cr3t-token", "since": "2999-01-01"}
        page = add(owning, project, **typed)
        assert "s3cr3t-token" not in page.text
        assert "Type the key in again: nothing was saved yet." in str(
            page.context["form"].errors[field]
        )

    def test_a_key_that_is_none_is_told_beside_the_key(self, owning, project):
        page = add(
            owning,
            project,
            address="git@93.184.215.14:team/handbook.git",
            token="",
            deploy_key="ssh-ed25519 AAAAC3Nz olive@quay",
        )
        assert "This is a public key" in str(page.context["form"].errors["deploy_key"])
        assert "AAAAC3Nz" not in page.text

    def test_the_same_address_again_shows_the_way(self, owning, project):
        present = make_repository(project, "Handbook", address=ADDRESS)
        page = add(owning, project)
        assert page.status_code == 422
        link = reverse("repository", args=[project.pk, present.pk])
        assert link in str(page.context["form"].errors["address"])
        assert Repository.objects.count() == 1

    def test_a_name_in_the_address_is_no_markup(self, owning, project):
        make_repository(project, "<b>Handbook</b>", address=ADDRESS)
        page = add(owning, project)
        assert "<b>Handbook</b>" not in page.text
        assert "&lt;b&gt;Handbook" in page.text

    def test_a_folder_of_this_machine(self, owning, project, git_root):
        page = visit(owning, "repository-add", project.pk)
        assert str(git_root) in page.text
        outside = add(owning, project, address="/etc", token="", username="")
        assert outside.context["form"].errors["address"]

    def test_for_all_projects_takes_an_operator(self, owning, operating, project):
        add(owning, project, for_all="on", document_patterns="")
        assert Repository.objects.get().project == project
        page = add(operating, project, for_all="on", document_patterns="")
        assert Repository.objects.get(project=None).address == ADDRESS
        assert page.status_code == 200
        assert 'name="for_all"' in visit(operating, "repository-add", project.pk).text
        assert 'name="for_all"' not in visit(owning, "repository-add", project.pk).text


class TestTrying:
    def test_tells_what_would_be_followed_and_saves_nothing(self, owning, project, origin):
        answer = add(owning, project, headers=HTMX, test="yes")
        words = words_of(answer.text)
        assert "<html" not in answer.text
        assert "main followed" in words
        assert "release/1 followed" in words
        assert "wip not followed" in words
        assert not Repository.objects.exists()
        assert decrypt(origin.opened[0].secret) == "s3cr3t-token"
        assert "s3cr3t-token" not in answer.text

    def test_the_rest_of_the_form_may_be_unfinished(self, owning, project, origin):
        answer = add(owning, project, headers=HTMX, test="yes", since="some", document_branch="*")
        assert "It answers" in answer.text

    def test_says_what_is_wrong(self, owning, project, origin):
        origin.problems["heads"] = OriginProblem(State.NOT_FOUND, "Nothing is there.")
        words = words_of(add(owning, project, headers=HTMX, test="yes").text)
        assert "It does not work" in words
        assert "Nothing is there." in words

    def test_an_address_that_cannot_be_asked(self, owning, project, origin):
        answer = add(owning, project, headers=HTMX, test="yes", address="ext::sh -c whoami")
        assert "It was not asked" in answer.text
        assert "Address:" in answer.text
        assert not origin.opened

    def test_without_script_everything_but_the_key_comes_back(self, owning, project, origin):
        page = add(owning, project, test="yes")
        form = page.context["form"]
        assert "It answers" in page.text
        assert form["branch_patterns"].value() == TYPED["branch_patterns"]
        assert "s3cr3t-token" not in page.text
        assert "Type the key in again" in str(form.errors["token"])
        assert not Repository.objects.exists()

    def test_is_for_owners(self, editing, project, origin):
        address = reverse("repository-add", args=[project.pk])
        assert editing.post(address, {**TYPED, "test": "yes"}).status_code == 403
        assert not origin.opened


class TestChanging:
    @pytest.fixture
    def stored(self, project) -> Repository:
        return make_repository(
            project,
            "Handbook",
            address=ADDRESS,
            secret=encrypt("stored-token"),
            branch_patterns=["main", "release/*"],
            since=datetime(2024, 1, 31, 15, 30, tzinfo=UTC),
            document_patterns=["docs/"],
        )

    def test_shows_what_is_stored_but_the_key(self, owning, stored):
        page = visit(owning, "repository-edit", stored.project_id, stored.pk)
        form = page.context["form"]
        assert form["branch_patterns"].value() == "main\nrelease/*"
        assert 'value="2024-01-31"' in page.text
        assert "A key is stored" in page.text
        assert "stored-token" not in page.text
        assert stored.secret not in page.text

    def test_a_blank_key_keeps_the_stored_one(self, owning, stored):
        edit(owning, stored, token="")
        stored.refresh_from_db()
        assert decrypt(stored.secret) == "stored-token"
        assert (stored.name, stored.document_patterns) == ("The handbook", ["docs/**/*.md"])

    def test_the_hour_of_a_day_that_was_not_changed_stays(self, owning, stored):
        edit(owning, stored, token="")
        stored.refresh_from_db()
        assert stored.since == datetime(2024, 1, 31, 15, 30, tzinfo=UTC)
        edit(owning, stored, token="", since="2023-01-01")
        stored.refresh_from_db()
        assert stored.since == datetime(2023, 1, 1, tzinfo=UTC)

    def test_a_new_key_takes_its_place(self, owning, stored):
        edit(owning, stored)
        stored.refresh_from_db()
        assert decrypt(stored.secret) == "s3cr3t-token"

    def test_it_can_be_forgotten(self, owning, stored):
        edit(owning, stored, token="", clear_secret="on")
        stored.refresh_from_db()
        assert stored.secret == ""

    def test_another_address_forgets_it_and_says_so(self, owning, stored):
        page = edit(owning, stored, token="", address="https://93.184.215.14/other.git")
        stored.refresh_from_db()
        assert stored.secret == ""
        assert "The stored key was forgotten" in page.text

    def test_what_is_wrong_changes_nothing(self, owning, stored):
        page = edit(owning, stored, branch_patterns="no branch", name="Other")
        assert page.status_code == 422
        assert page.context["form"]["name"].value() == "Other"
        stored.refresh_from_db()
        assert (stored.name, stored.branch_patterns) == ("Handbook", ["main", "release/*"])

    def test_a_trial_uses_the_stored_key_for_its_own_address_alone(self, owning, stored, origin):
        edit(owning, stored, headers=HTMX, test="yes", token="")
        edit(
            owning,
            stored,
            headers=HTMX,
            test="yes",
            token="",
            address="https://93.184.215.14/elsewhere.git",
        )
        same, other = origin.opened
        assert decrypt(same.secret) == "stored-token"
        assert other.secret == ""
        stored.refresh_from_db()
        assert stored.name == "Handbook"

    def test_one_for_all_has_no_documents_to_say(self, operating, project, shared):
        page = visit(operating, "repository-edit", project.pk, shared.pk)
        assert 'name="document_patterns"' not in page.text
        send(operating, "repository-edit", project.pk, shared.pk, address=ADDRESS, name="Rules")
        shared.refresh_from_db()
        assert (shared.name, shared.address, shared.project) == ("Rules", ADDRESS, None)

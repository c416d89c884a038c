"""Repositories over REST: what goes in, what comes out, and what never does."""

import json

import pytest
from django.contrib.auth.models import Permission

from collection.models import Branch, Repository
from glossary_site.outbound.allowed import parse_allowed
from glossary_site.secrets import decrypt
from projects.choices import Source
from tests.collection.api.conftest import refused
from tests.collection.factories import make_branch, make_commit, make_repository
from tests.factories import make_document, make_project

pytestmark = pytest.mark.django_db
SECRET = "glpat-1234567890abcdefghij"


@pytest.fixture(autouse=True)
def hosts_near_by(settings):
    """Their names need not be looked up."""
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.1"])


@pytest.fixture
def url(base) -> str:
    return f"{base}/repositories"


class TestAdding:
    def test_a_folder_of_the_server(self, as_owner, url, folder, project):
        response = as_owner.post(
            url,
            {
                "address": str(folder),
                "branch_patterns": ["main", "release/*"],
                "document_patterns": ["docs/**/*.md"],
                "document_folder": "handbook",
                "since": "2026-01-01T09:00:00+09:00",
            },
        )
        assert response.status_code == 201, response.content
        told = response.json()
        repository = Repository.objects.get()
        assert response["Location"] == f"{url}/{repository.pk}"
        assert told["id"] == repository.pk
        assert (told["project"], told["shared"]) == (project.pk, False)
        assert (told["kind"], told["address"]) == ("local", str(folder))
        assert (told["name"], told["added_by"]) == ("harbour", "olive")
        assert told["branch_patterns"] == ["main", "release/*"]
        assert told["document_patterns"] == ["docs/**/*.md"]
        assert told["document_folder"] == "handbook"
        assert told["since"] == "2026-01-01T00:00:00Z"
        assert (told["state"], told["has_secret"], told["enabled"]) == ("new", False, True)
        assert as_owner.get(f"{url}/{repository.pk}").json() == told

    def test_a_secret_goes_in_and_never_comes_out(self, as_owner, url):
        response = as_owner.post(
            url,
            {"address": "https://127.0.0.1/team/harbour.git", "username": "bot", "secret": SECRET},
        )
        assert response.status_code == 201, response.content
        repository = Repository.objects.get()
        assert decrypt(repository.secret) == SECRET
        row = f"{url}/{repository.pk}"
        answers = [
            response,
            as_owner.get(url),
            as_owner.get(row),
            as_owner.patch(row, {"name": "Harbour"}),
        ]
        for answer in answers:
            body = answer.content.decode()
            assert SECRET not in body
            assert repository.secret not in body
            assert '"secret"' not in body
            assert '"has_secret":true' in body
            assert "host_keys" not in body

    def test_twice_the_same(self, as_owner, url, folder):
        first = as_owner.post(url, {"address": str(folder)}).json()
        body = refused(as_owner.post(url, {"address": f"{folder}/."}), 409, "repository_exists")
        assert body["repository_id"] == first["id"]
        assert Repository.objects.count() == 1

    @pytest.mark.parametrize(
        ("body", "code", "field"),
        [
            ({}, "invalid", "address"),
            ({"address": ["x"]}, "invalid", "address"),
            ({"address": 7}, "invalid", "address"),
            ({"address": ""}, "invalid", "address"),
            ({"address": "a\0b"}, "invalid", "address"),
            ({"address": "x" * 1001}, "invalid", "address"),
            ({"kind": "svn"}, "invalid", "kind"),
            ({"name": "x" * 201}, "invalid", "name"),
            ({"name": None}, "invalid", "name"),
            ({"branch_patterns": "main"}, "invalid", "branch_patterns"),
            ({"branch_patterns": {"0": "main"}}, "invalid", "branch_patterns"),
            ({"branch_patterns": [7]}, "invalid", "branch_patterns"),
            ({"branch_patterns": ["x"] * 51}, "invalid", "branch_patterns"),
            ({"branch_patterns": ["a..b"]}, "bad_branch_pattern", "branch_patterns"),
            ({"document_patterns": "docs/*.md"}, "invalid", "document_patterns"),
            ({"document_patterns": ["!a.md"]}, "bad_document_pattern", "document_patterns"),
            ({"document_folder": "../up"}, "bad_document_folder", "document_folder"),
            ({"document_branch": "release/*"}, "bad_document_branch", "document_branch"),
            ({"since": "yesterday"}, "invalid", "since"),
            ({"since": "0001-01-01T00:00:00+14:00"}, "invalid", "since"),
            ({"since": "0001-01-01T00:00:00"}, "invalid", "since"),
            ({"since": "9999-12-31T23:59:59-14:00"}, "invalid", "since"),
            ({"since": "9999-12-31T00:00:00Z"}, "bad_since", "since"),
            ({"since": 7}, "invalid", "since"),
            ({"secret": "x" * 20_001}, "invalid", "secret"),
            ({"secret": "token"}, "bad_secret", "secret"),
        ],
    )
    def test_what_is_wrong_is_said(self, as_owner, url, folder, body, code, field):
        body = body and {"address": str(folder), **body}
        told = refused(as_owner.post(url, body), 400, code)
        assert list(told["fields"]) == [field]
        assert not Repository.objects.exists()

    @pytest.mark.parametrize(
        "address",
        [
            "/etc",
            "file:///etc",
            "ext::sh -c touch% /tmp/x",
            "--upload-pack=touch /tmp/x",
            "https://user:password@git.example.com/a.git",
            "ftp://git.example.com/a.git",
            "https://[::1",
            "\N{RIGHT-TO-LEFT OVERRIDE}",
        ],
    )
    def test_addresses_that_are_not_for_us(self, as_owner, url, folder, address):
        response = as_owner.post(url, {"address": address})
        assert response.status_code == 400, response.content
        assert list(response.json()["fields"]) == ["address"]
        assert not Repository.objects.exists()

    def test_half_a_character_is_no_text(self, as_owner, url):
        body = json.dumps({"address": "\ud800"})
        response = as_owner.generic("POST", url, body, content_type="application/json")
        refused(response, 400, "parse_error")


class TestReading:
    def test_the_list_has_the_projects_own_and_those_for_all(self, as_viewer, url, project):
        own = make_repository(project, "harbour")
        shared = make_repository(None, "atlas")
        make_repository(make_project("Elsewhere"), "mole")
        told = as_viewer.get(url).json()
        assert [row["id"] for row in told["results"]] == [shared.pk, own.pk]
        assert [row["shared"] for row in told["results"]] == [True, False]
        assert [row["project"] for row in told["results"]] == [None, project.pk]
        assert as_viewer.get(f"{url}/{shared.pk}").json()["shared"] is True

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("q=HARB", ["harbour"]),
            ("q=atlas", ["atlas"]),
            ("kind=gitlab", ["quay"]),
            ("state=denied&state=empty", ["harbour", "quay"]),
            ("enabled=false", ["quay"]),
            ("shared=true", ["atlas"]),
            ("shared=false&ordering=-name", ["quay", "harbour"]),
        ],
    )
    def test_it_can_be_narrowed(self, as_viewer, url, project, query, names):
        make_repository(project, "harbour", state="denied")
        make_repository(project, "quay", kind="gitlab", state="empty", enabled=False)
        make_repository(None, "atlas")
        told = as_viewer.get(f"{url}?{query}").json()
        assert [row["name"] for row in told["results"]] == names

    @pytest.mark.parametrize(
        "query", ["kind=svn", "state=x", "ordering=secret", "page_size=x", f"q={'x' * 501}"]
    )
    def test_what_it_cannot_be_narrowed_by(self, as_viewer, url, query):
        refused(as_viewer.get(f"{url}?{query}"), 400, "invalid")

    def test_however_many_it_takes_as_many_queries(
        self, as_viewer, url, project, owner, django_assert_num_queries
    ):
        make_repository(project, added_by=owner)
        as_viewer.get("/api/me")  # the first time, the use of the token is noted
        # The token with its person, the project, the role, the count, the rows.
        with django_assert_num_queries(5):
            as_viewer.get(url)
        for _number in range(9):
            make_repository(project, added_by=owner)
        with django_assert_num_queries(5):
            assert as_viewer.get(url).json()["count"] == 10

    def test_others_are_not_here(self, as_viewer, url):
        there = make_repository(make_project("Elsewhere"))
        refused(as_viewer.get(f"{url}/{there.pk}"), 404, "not_found")
        refused(as_viewer.get(f"{url}/{2**63}"), 404, "not_found")


class TestChanging:
    def test_only_what_is_sent(self, as_owner, url, project):
        repository = make_repository(project, "harbour", branch_patterns=["main"])
        told = as_owner.patch(f"{url}/{repository.pk}", {"name": "Quay"}).json()
        assert (told["name"], told["branch_patterns"]) == ("Quay", ["main"])
        assert told["address"] == repository.address

    def test_other_patterns_follow_other_branches(self, as_owner, url, project):
        repository = make_repository(project)
        main, release = make_branch(repository), make_branch(repository, "release/1")
        told = as_owner.patch(f"{url}/{repository.pk}", {"branch_patterns": ["release/*"]}).json()
        assert told["branch_patterns"] == ["release/*"]
        main.refresh_from_db()
        release.refresh_from_db()
        assert (main.state, release.state) == ("left_out", "followed")

    def test_paused_and_renamed_in_one_go(self, as_owner, url, project):
        repository = make_repository(project)
        told = as_owner.patch(f"{url}/{repository.pk}", {"enabled": False, "name": "Quay"}).json()
        assert (told["enabled"], told["name"]) == (False, "Quay")
        told = as_owner.patch(f"{url}/{repository.pk}", {"enabled": True}).json()
        assert (told["enabled"], told["name"]) == (True, "Quay")

    def test_nothing_is_paused_when_the_rest_is_refused(self, as_owner, url, project):
        repository = make_repository(project)
        body = {"enabled": False, "branch_patterns": ["a..b"]}
        refused(as_owner.patch(f"{url}/{repository.pk}", body), 400, "bad_branch_pattern")
        repository.refresh_from_db()
        assert repository.enabled

    def test_a_blank_secret_keeps_it_and_only_a_wish_clears_it(self, as_owner, url):
        address = "https://127.0.0.1/team/harbour.git"
        row = as_owner.post(url, {"address": address, "secret": SECRET}).json()
        one = f"{url}/{row['id']}"
        assert as_owner.patch(one, {"secret": ""}).json()["has_secret"] is True
        assert as_owner.patch(one, {"clear_secret": True}).json()["has_secret"] is False
        assert as_owner.patch(one, {"secret": SECRET}).json()["has_secret"] is True
        moved = as_owner.patch(one, {"address": "https://127.0.0.1/team/quay.git"}).json()
        assert moved["has_secret"] is False

    def test_an_empty_wish_changes_nothing(self, as_owner, url, project):
        repository = make_repository(project)
        before = as_owner.get(f"{url}/{repository.pk}").json()
        assert as_owner.patch(f"{url}/{repository.pk}", {}).json() == before

    def test_since_can_be_taken_back(self, as_owner, url, project):
        repository = make_repository(project)
        one = f"{url}/{repository.pk}"
        assert as_owner.patch(one, {"since": "2026-01-01"}).json()["since"] is not None
        assert as_owner.patch(one, {"since": None}).json()["since"] is None


class TestRemoving:
    def test_its_commits_go_and_other_documents_stay(self, as_owner, url, project):
        repository = make_repository(project)
        make_commit(make_branch(repository))
        document = make_document(project)
        response = as_owner.delete(f"{url}/{repository.pk}")
        assert (response.status_code, response.content) == (204, b"")
        assert not Repository.objects.exists()
        assert not Branch.objects.exists()
        assert project.documents.get() == document

    @pytest.mark.parametrize(("asked", "left"), [("", 2), ("?delete_documents=true", 1)])
    def test_its_documents_go_only_when_asked(self, as_owner, url, project, asked, left):
        repository = make_repository(project)
        # Uploaded by somebody before it was a file of the repository, and come from it.
        for path, source in (("a.md", Source.UPLOAD), ("b.md", Source.GIT)):
            document = make_document(project, path)
            document.versions.update(source=source)
            repository.files.create(path=path, blob="0" * 40, document=document)
        assert as_owner.delete(f"{url}/{repository.pk}{asked}").status_code == 204
        assert project.documents.count() == left

    def test_a_doubtful_wish_removes_nothing(self, as_owner, url, project):
        repository = make_repository(project)
        response = as_owner.delete(f"{url}/{repository.pk}?delete_documents=perhaps")
        refused(response, 400, "invalid")
        assert Repository.objects.exists()


class TestTesting:
    def test_what_it_has_is_found_and_followed(self, as_owner, url, folder):
        body = {"address": str(folder), "branch_patterns": ["release/*"]}
        row = as_owner.post(url, body).json()
        response = as_owner.post(f"{url}/{row['id']}/test")
        assert response.status_code == 200, response.content
        assert response.json() == {
            "state": "ready",
            "message": "",
            "branches": ["main", "release/1"],
            "default_branch": "main",
            "matching": ["release/1"],
        }
        told = as_owner.get(f"{url}/{row['id']}").json()
        assert (told["state"], told["default_branch"]) == ("ready", "main")
        assert told["checked_at"]
        assert Branch.objects.get().name == "release/1"

    def test_what_is_wrong_is_an_answer_too(self, as_owner, url, folder):
        row = as_owner.post(url, {"address": str(folder)}).json()
        folder.rename(folder.with_name("gone"))
        told = as_owner.post(f"{url}/{row['id']}/test").json()
        assert told["state"] in ("not_found", "refused")
        assert told["message"]
        assert told["branches"] == told["matching"] == []
        assert as_owner.get(f"{url}/{row['id']}").json()["state_message"] == told["message"]

    def test_an_address_can_be_tried_before_it_is_added(self, as_owner, url, folder):
        told = as_owner.post(f"{url}/test", {"address": str(folder)}).json()
        assert (told["state"], told["default_branch"]) == ("ready", "main")
        assert (told["branches"], told["matching"]) == (["main", "release/1"], ["main"])
        assert not Repository.objects.exists()
        body = refused(as_owner.post(f"{url}/test", {}), 400, "invalid")
        assert list(body["fields"]) == ["address"]


class TestForAllProjects:
    """Operators added them; here they are read."""

    @pytest.mark.parametrize(
        ("method", "rest"),
        [
            ("patch", ""),
            ("delete", ""),
            ("post", "/test"),
            ("delete", "/branches/{branch}/commits"),
        ],
    )
    def test_owners_do_not_change_them(self, as_owner, url, method, rest):
        repository = make_repository(None, "atlas")
        branch = make_branch(repository)
        address = f"{url}/{repository.pk}{rest.format(branch=branch.pk)}"
        refused(getattr(as_owner, method)(address, {}), 403, "permission_denied")
        assert Repository.objects.get().name == "atlas"

    def test_operators_do(self, program, owner, url):
        repository = make_repository(None, "atlas")
        owner.user_permissions.add(Permission.objects.get(codename="collect_all"))
        told = program(owner).patch(f"{url}/{repository.pk}", {"name": "Charts"}).json()
        assert (told["name"], told["shared"]) == ("Charts", True)

    def test_their_branches_are_seen(self, as_viewer, url):
        repository = make_repository(None)
        make_branch(repository)
        told = as_viewer.get(f"{url}/{repository.pk}/branches").json()
        assert [row["name"] for row in told["results"]] == ["main"]

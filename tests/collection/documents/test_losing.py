"""A change that costs documents says which before it is saved, at every door."""

import pytest
from django.urls import reverse

from collection.models import Repository
from collection.services.repositories import DocumentsWouldGo, change_repository
from projects.access import OPERATOR
from tests.collection.documents.taken import take, texts
from tests.collection.factories import make_repository
from tests.collection.made import MemoryOrigin
from tests.factories import make_document

pytestmark = pytest.mark.django_db

FILES = {
    "docs/a.md": "# A\n",
    "docs/drafts/b.md": "# B\n",
    "docs/drafts/c.md": "# C\n",
    "README.md": "# Read\n",
}
NARROWER = ["docs/**", "!docs/drafts/**"]
GONE = ["README.md", "docs/drafts/b.md", "docs/drafts/c.md"]


@pytest.fixture
def origin() -> MemoryOrigin:
    origin = MemoryOrigin()
    origin.commit(FILES)
    return origin


@pytest.fixture
def handbook(project, origin) -> Repository:
    handbook = make_repository(
        project, "handbook", address="https://9.9.9.9/app.git", document_patterns=["**/*.md"]
    )
    take(handbook, origin)
    return handbook


def change(repository: Repository, confirm: str = "", **wishes) -> None:
    change_repository(repository=repository, actor=OPERATOR, confirm=confirm, **wishes)


def refused(repository: Repository, confirm: str = "", **wishes) -> DocumentsWouldGo:
    with pytest.raises(DocumentsWouldGo) as refusal:
        change(repository, confirm, **wishes)
    return refusal.value


def stored(repository: Repository) -> Repository:
    return Repository.objects.get(pk=repository.pk)


class TestTheService:
    def test_what_is_foretold_is_what_happens(self, handbook, origin, project):
        refusal = refused(handbook, document_patterns=NARROWER)
        assert refusal.loss.certain == GONE
        assert (refusal.loss.possible, refusal.loss.staying) == ([], 1)
        assert stored(handbook).document_patterns == ["**/*.md"]
        change(handbook, refusal.loss.token, document_patterns=NARROWER)
        taken = take(handbook, origin)
        assert (taken.deleted, taken.unchanged) == (3, 1)
        assert set(texts(project)) == {"docs/a.md"}

    def test_no_documents_any_more(self, handbook, origin, project):
        loss = refused(handbook, document_patterns=[]).loss
        assert (loss.certain, loss.staying) == (sorted(FILES), 0)
        change(handbook, loss.token, document_patterns=[])
        take(handbook, origin)
        assert not texts(project)

    def test_a_confirmation_is_of_what_was_told(self, handbook, origin):
        token = refused(handbook, document_patterns=["docs/**"]).loss.token
        # Another wish, or other documents by now.
        refused(handbook, token, document_patterns=NARROWER)
        origin.commit({"more.md": "# More\n"})
        take(handbook, origin)
        assert refused(handbook, token, document_patterns=["docs/**"]).loss.certain == [
            "README.md",
            "more.md",
        ]

    @pytest.mark.parametrize(
        "wishes",
        [
            {"document_patterns": ["**/*.md", "*.rst"]},
            {"document_folder": "handbook"},
            {"document_branch": "main"},
            {"name": "Manual", "branch_patterns": ["main"]},
        ],
        ids=["wider", "folder", "same branch", "other things"],
    )
    def test_what_costs_nothing_is_not_asked_about(self, handbook, wishes):
        change(handbook, **wishes)
        for name, value in wishes.items():
            assert getattr(stored(handbook), name) == value

    def test_a_folder_moves_documents(self, handbook, origin, project):
        change(handbook, document_folder="handbook")
        assert take(handbook, origin).deleted == 0
        assert set(texts(project)) == {f"handbook/{path}" for path in FILES}

    @pytest.mark.parametrize(
        "wishes",
        [{"document_branch": "release"}, {"address": "https://9.9.9.9/other.git"}],
        ids=["branch", "address"],
    )
    def test_elsewhere_some_may_be_missing(self, handbook, wishes):
        loss = refused(handbook, **wishes).loss
        assert (loss.certain, loss.possible, loss.staying) == ([], sorted(FILES), 0)
        both = refused(handbook, document_patterns=NARROWER, **wishes).loss
        assert (both.certain, both.possible, both.staying) == (GONE, ["docs/a.md"], 0)
        change(handbook, loss.token, **wishes)

    def test_what_belongs_to_others_stays(self, project, origin):
        """A document of a person, and one that another repository has as well."""
        make_document(project, "README.md", "# Read\n")
        one, other = (make_repository(project, document_patterns=["**/*.md"]) for _ in range(2))
        take(one, origin)
        assert refused(one, document_patterns=NARROWER).loss.certain == GONE[1:]
        take(other, origin)
        change(one, document_patterns=[])
        take(one, origin)
        assert set(texts(project)) == set(FILES)
        loss = refused(other, document_patterns=[]).loss
        assert loss.certain == ["docs/a.md", "docs/drafts/b.md", "docs/drafts/c.md"]
        assert loss.staying == 1

    def test_one_without_documents(self, project):
        empty = make_repository(project, document_patterns=["**/*.md"])
        change(empty, document_patterns=[])
        assert stored(empty).document_patterns == []


class TestThePage:
    def send(self, client, repository, **changes):
        typed = {
            "address": repository.address,
            "name": "Typed",
            "document_patterns": "\n".join(NARROWER),
        }
        address = reverse("repository-edit", args=[repository.project_id, repository.pk])
        return client.post(address, typed | changes)

    def test_asks_with_what_was_typed(self, sign_in, owner, handbook):
        owning = sign_in(owner)
        page = self.send(owning, handbook)
        assert page.status_code == 422
        assert stored(handbook).name == "handbook"
        assert page.context["form"]["name"].value() == "Typed"
        assert all(f">{path}<" in page.text for path in GONE)
        assert ">docs/a.md<" not in page.text
        token = page.context["loss"].token
        assert f'name="confirm" value="{token}"' in page.text
        assert self.send(owning, handbook, confirm=token).status_code == 302
        assert stored(handbook).document_patterns == NARROWER

    def test_names_the_first_and_counts_the_rest(self, sign_in, owner, handbook, origin):
        origin.commit({f"notes/{n:02}.md": "# Note\n" for n in range(30)})
        take(handbook, origin)
        page = self.send(sign_in(owner), handbook)
        assert "33 documents are no longer asked for" in page.text
        assert "and 13 more" in page.text
        assert ">notes/29.md<" not in page.text

    def test_says_nothing_where_nothing_goes(self, sign_in, owner, handbook):
        assert self.send(sign_in(owner), handbook, document_patterns="**/*.md").status_code == 302
        assert stored(handbook).name == "Typed"


class TestTheApi:
    def test_refuses_until_it_is_confirmed(self, as_owner, handbook):
        address = reverse("api-repository", args=[handbook.project_id, handbook.pk])
        answer = as_owner.patch(address, {"document_patterns": NARROWER, "enabled": False})
        assert answer.status_code == 409
        told = answer.json()
        assert told["code"] == "documents_would_go"
        assert (told["certain"], told["possible"], told["staying"]) == (3, 0, 1)
        assert told["paths"] == GONE
        assert stored(handbook).enabled
        body = {"document_patterns": NARROWER, "confirm": told["confirm"]}
        assert as_owner.patch(address, body).status_code == 200
        assert stored(handbook).document_patterns == NARROWER


class TestTheAdministration:
    def test_asks_beside_the_field(self, sign_in, superuser, handbook):
        client = sign_in(superuser)
        address = reverse("admin:collection_repository_change", args=[handbook.pk])
        typed = {"address": handbook.address, "document_patterns": "\n".join(NARROWER)}
        page = client.post(address, typed)
        _sentence, *paths = page.context["adminform"].form.errors["confirm"]
        assert paths == GONE
        assert stored(handbook).document_patterns == ["**/*.md"]
        assert client.post(address, typed | {"confirm": "on"}).status_code == 302
        assert stored(handbook).document_patterns == NARROWER

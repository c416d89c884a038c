"""Names that are one person: merged, split, taken back, on paper and on the page."""

import threading

import pytest
from django.db import connection
from django.urls import reverse

from collection.identities import Identity, People
from collection.models import Author, AuthorAlias
from collection.services.authors import merge_authors, split_identity, take_mailmap, undo_merge
from collection.statistics.asking import Filter
from collection.statistics.counting import people_totals
from collection.statistics.doubles import likely_doubles
from glossary_site.errors import Refusal
from glossary_site.jobs.models import AuditEntry
from glossary_site.live.models import Event
from projects.access import OPERATOR
from tests import factories
from tests.collection.factories import make_branch, make_commit, make_commits, make_repository

ADA, OLD, BOB, EVE = (
    Identity("Ada", "ada@example.com"),
    Identity("ada", "ada@old.example"),
    Identity("Bob", "bob@example.com"),
    Identity("Eve", "eve@example.com"),
)


@pytest.fixture
def four(main):
    for identity in (ADA, OLD, BOB, EVE):
        make_commit(main, author_name=identity.name, author_email=identity.email)


def persons(project):
    people = People.of(project)
    return [people.person(identity) for identity in (ADA, OLD, BOB, EVE)]


def merge(project, into, *identities, actor=OPERATOR):
    return merge_authors(project=project, into=into, identities=identities, actor=actor)


@pytest.mark.django_db
class TestMerging:
    def test_all_of_them_are_one(self, project, four, editor):
        merged = merge(project, ADA, ADA, OLD, actor=editor)
        assert merged.identities == [OLD]
        assert persons(project) == [ADA, ADA, BOB, EVE]
        entry = AuditEntry.objects.get(pk=merged.entry_id)
        assert (entry.actor, entry.after["author"]) == ("edda", list(ADA))
        event = Event.objects.filter(type="authors.changed").get()
        assert event.payload == {"by": "edda"}

    def test_one_brings_the_others_along(self, project, four):
        merge(project, ADA, OLD)
        merge(project, BOB, ADA)
        assert persons(project) == [BOB, BOB, BOB, EVE]
        assert [author.name for author in Author.objects.all()] == ["Bob"]

    def test_one_of_the_other_names_can_become_the_name(self, project, four):
        merge(project, ADA, OLD, BOB)
        merge(project, OLD, ADA)
        assert persons(project) == [OLD, OLD, OLD, EVE]

    def test_undo_is_exactly_what_was_before(self, project, four):
        merge(project, ADA, OLD)
        before = persons(project)
        merged = merge(project, BOB, ADA, EVE)
        assert persons(project) == [BOB] * 4
        assert undo_merge(project=project, entry_id=merged.entry_id, actor=OPERATOR) == 3
        assert persons(project) == before
        with pytest.raises(Refusal, match="nothing left to undo"):
            undo_merge(project=project, entry_id=merged.entry_id, actor=OPERATOR)

    def test_undo_brings_the_mail_map_back(self, project, repository, four):
        take_mailmap(repository=repository, text="Ada <ada@example.com> <ada@old.example>")
        merged = merge(project, BOB, OLD)
        undo_merge(project=project, entry_id=merged.entry_id, actor=OPERATOR)
        assert AuthorAlias.objects.get().repository == repository
        assert persons(project) == [ADA, ADA, BOB, EVE]

    def test_undo_leaves_what_was_moved_on(self, project, four):
        merged = merge(project, ADA, OLD, EVE)
        merge(project, BOB, EVE)
        assert undo_merge(project=project, entry_id=merged.entry_id, actor=OPERATOR) == 1
        assert persons(project) == [ADA, OLD, BOB, BOB]

    def test_undo_stays_within_the_project(self, project, four):
        other = factories.make_project()
        branch = make_branch(make_repository(other))
        for identity in (ADA, OLD):
            make_commit(branch, author_name=identity.name, author_email=identity.email)
        merged = merge(other, ADA, OLD)
        with pytest.raises(Refusal, match="nothing left"):
            undo_merge(project=project, entry_id=merged.entry_id, actor=OPERATOR)
        assert persons(other)[1] == ADA

    def test_split(self, project, four):
        merge(project, ADA, OLD, BOB)
        split_identity(project=project, identity=OLD, actor=OPERATOR)
        assert persons(project) == [ADA, OLD, ADA, EVE]
        with pytest.raises(Refusal, match="already"):
            split_identity(project=project, identity=OLD, actor=OPERATOR)
        split_identity(project=project, identity=BOB, actor=OPERATOR)
        assert not Author.objects.exists()

    def test_what_is_refused(self, project, four):
        with pytest.raises(Refusal) as nobody:
            merge(project, ADA, Identity("Zed", "zed@example.com"))
        assert nobody.value.code == "unknown_author"
        for identities in ([], [ADA]):
            with pytest.raises(Refusal) as nothing:
                merge(project, ADA, *identities)
            assert nothing.value.code == "nothing_to_merge"
        # Each part is known, the two together are not.
        with pytest.raises(Refusal):
            merge(project, ADA, Identity("Bob", "eve@example.com"))

    def test_projects_have_their_own(self, project, four, owner):
        shared = make_branch(make_repository(None, "shared"))
        make_commit(shared, author_name="Zed", author_email="zed@example.com")
        merge(project, ADA, Identity("Zed", "zed@example.com"))
        assert AuthorAlias.objects.get().project == project


@pytest.mark.django_db(transaction=True)
def test_people_and_a_collection_at_once(project, repository, four):
    """Neither loses what it wrote, whoever is first."""
    errors = []

    def do(deed):
        try:
            deed()
        except Refusal as refusal:
            # The map and the other merge have brought Eve there before.
            if refusal.code != "nothing_to_merge":
                errors.append(refusal)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    text = "Ada <ada@example.com> <ada@old.example>\nAda <ada@example.com> <eve@example.com>\n"
    deeds = [
        lambda: merge(project, BOB, EVE),
        lambda: take_mailmap(repository=repository, text=text),
        lambda: merge(project, BOB, ADA),
    ]
    threads = [threading.Thread(target=do, args=[deed]) for deed in deeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    people = People.of(project)
    assert [people.person(each) for each in (ADA, BOB, EVE)] == [BOB] * 3
    assert people.person(OLD) in (ADA, BOB)


@pytest.mark.django_db
class TestPage:
    @pytest.fixture
    def address(self, project):
        return reverse("authors", args=[project.pk])

    def test_doubles_are_proposed(self, project, main, editing, reading, address):
        for name, email in (
            ("Ada Lovelace", "ada@example.com"),
            ("ada lovelace", "1@example.com"),
            ("Kim", "kim@work.example"),
            ("K.", "123+kim@users.noreply.github.com"),
            ("Root", "root@a.example"),
            ("Else", "root@b.example"),
        ):
            make_commits(main, 2, author_name=name, author_email=email)
        found = likely_doubles(people_totals(project, Filter()))
        names = [{each.person.name for each in double.persons} for double in found]
        assert names == [{"Ada Lovelace", "ada lovelace"}, {"Kim", "K."}]
        assert "Perhaps one person?" in editing.get(address).text
        assert "Perhaps one person?" not in reading.get(address).text

    def test_merge_and_undo(self, project, four, editing, address):
        sent = {"author": [str(ADA), str(OLD), str(BOB)], "into": str(BOB)}
        done = editing.post(address, sent)
        assert persons(project) == [BOB, BOB, BOB, EVE]
        page = editing.get(done.url)
        assert "2 other names now stand for Bob." in page.text
        undo = page.context["undo"]
        assert f'name="undo" value="{undo}"' in page.text
        editing.post(address, {"undo": undo})
        assert persons(project) == [ADA, OLD, BOB, EVE]

    def test_split_off(self, project, four, editing, address):
        merge(project, ADA, OLD)
        assert "Split off" in editing.get(address).text
        editing.post(address, {"split": str(OLD)}, follow=True)
        assert persons(project) == [ADA, OLD, BOB, EVE]

    def test_what_is_refused_is_said(self, project, four, editing, address):
        for sent in ({"author": [str(ADA)]}, {}, {"author": ["x\0", "y"]}, {"undo": "99999"}):
            page = editing.post(address, sent, follow=True)
            assert "message-error" in page.text
        assert not AuthorAlias.objects.exists()

    def test_who_may(self, project, four, sign_in, reading, outsider, address):
        assert "Merge the ticked" not in reading.get(address).text
        assert reading.post(address, {"author": [str(ADA), str(OLD)]}).status_code == 403
        assert sign_in(outsider).get(address).status_code == 404

    def test_finding_and_nobody(self, project, four, reading, address):
        shown = [each.person for each in reading.get(address, {"q": "OLD"}).context["listing"].page]
        assert shown == [OLD]
        assert "Nobody matches" in reading.get(address, {"q": "zzz"}).text

    def test_names_are_escaped(self, project, main, editing, address):
        for email in ("a@x", "b@x"):
            make_commit(main, author_name="<script>alert(1)</script>", author_email=email)
        assert "<script>alert" not in editing.get(address).text

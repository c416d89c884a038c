"""Projects and members: what may happen, what is refused, and what is told to the live feed."""

import threading

import pytest
from django.db import connection

from glossary_site.errors import Refusal
from glossary_site.jobs.choices import State
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.live.reading import events_after
from projects.access import OPERATOR, Action, can
from projects.choices import Role, Source
from projects.models import Document, DocumentVersion, Membership, Project
from projects.services.documents import store_document
from projects.services.members import add_member, change_role, remove_member
from projects.services.projects import clone_project, create_project, delete_project, update_project
from tests import factories


def told(project) -> list[str]:
    return [event["type"] for event in events_after(project.stream, 0)]


class TestProject:
    def test_whoever_makes_it_owns_it(self, owner):
        project = create_project(actor=owner, name="Harbour")
        assert Membership.objects.get(project=project).role == Role.OWNER
        assert told(project) == ["project.created"]

    @pytest.mark.parametrize("name", ["Harbour", "HARBOUR", "harbour"])
    def test_a_name_is_given_once_whatever_its_case(self, project, owner, name):
        with pytest.raises(Refusal, match="already a project") as refusal:
            create_project(actor=owner, name=name)
        assert (refusal.value.code, refusal.value.status) == ("project_name_taken", 409)
        assert Project.objects.count() == 1

    def test_renaming_to_a_taken_name_is_refused_and_changes_nothing(self, project, owner):
        other = create_project(actor=owner, name="Quay")
        with pytest.raises(Refusal):
            update_project(project=other, actor=owner, name="Harbour", description="new")
        other.refresh_from_db()
        assert (other.name, other.description) == ("Quay", "")

    def test_no_change_is_no_news(self, project, owner):
        update_project(project=project, actor=owner, name="Harbour")
        update_project(project=project, actor=owner, description="Boats")
        assert told(project) == ["project.created", "project.changed"]

    @pytest.mark.django_db(transaction=True)
    def test_many_at_once_make_one_project_of_a_name(self):
        made, refused = [], []

        def make():
            try:
                made.append(create_project(actor=OPERATOR, name="Race"))
            except Refusal as refusal:
                refused.append(refusal.code)
            finally:
                connection.close()

        threads = [threading.Thread(target=make) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == 1
        assert refused == ["project_name_taken"] * 7

    def test_a_clone_has_the_settings_and_present_texts_and_its_own_life(self, owner, viewer):
        project = create_project(actor=owner, name="Original", description="D", language="ja")
        factories.make_document(project, "a/b.md", "# One")
        factories.make_document(project, "a/b.md", "# Two")
        clone = clone_project(project=project, actor=viewer, name="Copy")
        assert (clone.description, clone.language) == ("D", "ja")
        copied = Document.objects.get(project=clone)
        assert (copied.path, copied.content, copied.version) == ("a/b.md", "# Two", 1)
        assert copied.source == Source.CLONE
        assert Membership.objects.get(project=clone).user == viewer
        store_document(
            project=clone, path="a/b.md", content="# Three", source=Source.API, actor=viewer
        )
        assert Document.objects.get(project=project).content == "# Two"

    def test_a_clone_that_is_refused_leaves_nothing(self, project, owner):
        factories.make_document(project)
        with pytest.raises(Refusal):
            clone_project(project=project, actor=owner, name="Harbour")
        assert Project.objects.count() == 1

    def test_deleting_takes_everything_and_ends_the_feed_with_the_news(self, project, owner):
        factories.make_document(project)
        stream = project.stream
        delete_project(project=project, actor=owner)
        assert not Project.objects.exists()
        assert not DocumentVersion.objects.exists()
        assert events_after(stream, 0)[-1]["type"] == "project.deleted"


class TestMembers:
    def test_an_existing_user_is_invited_by_name(self, project, owner, outsider):
        membership = add_member(project=project, username="otto", role=Role.EDITOR, actor=owner)
        assert membership.user == outsider
        assert can(outsider, Action.EDIT, project)
        assert told(project)[-1] == "member.added"

    def test_an_unknown_or_inactive_name_and_a_second_invitation_are_refused(self, project, owner):
        factories.make_user("gone", is_active=False)
        for name, code in [("nobody", "user_unknown"), ("gone", "user_unknown")]:
            with pytest.raises(Refusal) as refusal:
                add_member(project=project, username=name, role=Role.VIEWER, actor=owner)
            assert refusal.value.code == code
        with pytest.raises(Refusal) as refusal:
            add_member(project=project, username="olive", role=Role.VIEWER, actor=owner)
        assert refusal.value.code == "already_member"
        assert Membership.objects.get(user=owner).role == Role.OWNER

    def test_the_last_owner_stays(self, project, owner, editor):
        mine = Membership.objects.get(user=owner)
        for attempt in (
            lambda: remove_member(membership=mine, actor=owner),
            lambda: change_role(membership=mine, role=Role.EDITOR, actor=owner),
        ):
            with pytest.raises(Refusal) as refusal:
                attempt()
            assert refusal.value.code == "last_owner"
        change_role(membership=Membership.objects.get(user=editor), role=Role.OWNER, actor=owner)
        remove_member(membership=mine, actor=owner)
        assert not can(owner, Action.VIEW, project)

    @pytest.mark.django_db(transaction=True)
    def test_two_owners_who_demote_each_other_at_once_leave_one(self, owner):
        project = create_project(actor=owner, name="Duel")
        factories.make_member(project, Role.OWNER)
        start = threading.Barrier(2)

        def demote(membership):
            start.wait()
            try:
                change_role(membership=membership, role=Role.VIEWER, actor=OPERATOR)
            except Refusal:
                pass
            finally:
                connection.close()

        rows = list(Membership.objects.select_related("project", "user").filter(project=project))
        threads = [threading.Thread(target=demote, args=[row]) for row in rows]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert Membership.objects.filter(project=project, role=Role.OWNER).count() == 1


def test_deleting_a_project_ends_the_work_that_is_done_for_it(project, owner):
    run = enqueue("work.note", scope=project.stream)
    other = enqueue("work.note", scope="project:999")
    delete_project(project=project, actor=owner)
    run.refresh_from_db()
    other.refresh_from_db()
    assert (run.state, run.error) == (State.CANCELED, "The project was deleted.")
    assert other.state == State.PENDING

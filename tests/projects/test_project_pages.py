"""The pages about projects, their members and their activity."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.template import Context, Template
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation
from django.views.defaults import server_error

from glossary_site.live.models import Event
from glossary_site.live.services import publish
from glossary_site.pages import Column, Listing
from projects.access import OPERATOR
from projects.choices import Role, Source
from projects.models import Membership, Project
from projects.news import SENTENCES, news_of
from projects.services.documents import delete_documents, rename_document
from projects.services.members import add_member, change_role, remove_member
from projects.services.projects import update_project
from tests import factories

HTMX = {"HX-Request": "true"}


def names_in(response) -> list[str]:
    return [row.project.name for row in response.context["rows"]]


class TestList:
    def test_shows_what_one_belongs_to_and_nothing_else(self, project, viewer, outsider, sign_in):
        factories.make_document(project)
        page = sign_in(viewer).get("/")
        assert names_in(page) == ["Harbour"]
        cells = {cell.fact.key: cell.value for cell in page.context["rows"][0].cells}
        assert (cells["documents"], cells["members"]) == (1, 2)
        assert "No projects yet" in sign_in(outsider).get("/").text

    def test_a_superuser_sees_all(self, project, superuser, sign_in):
        assert names_in(sign_in(superuser).get("/")) == ["Harbour"]

    def test_the_filter_finds_names_and_descriptions(self, owner, sign_in):
        factories.make_project("Harbour", owner=owner)
        factories.make_project("Quay", owner=owner, description="near the harbour")
        factories.make_project("潮流発電", owner=owner)
        client = sign_in(owner)
        assert names_in(client.get("/", {"q": "HARBOUR"})) == ["Harbour", "Quay"]
        assert names_in(client.get("/", {"q": "潮流"})) == ["潮流発電"]
        nothing = client.get("/", {"q": "<script>\0"})
        assert "No project matches “&lt;script&gt;”" in nothing.text

    def test_sorts_by_every_column_both_ways(self, owner, sign_in):
        small = factories.make_project("beta", owner=owner)
        large = factories.make_project("Alpha", owner=owner)
        for _ in range(2):
            factories.make_document(large)
        factories.make_document(small)
        client = sign_in(owner)
        assert names_in(client.get("/")) == ["Alpha", "beta"]
        assert names_in(client.get("/", {"sort": "-name"})) == ["beta", "Alpha"]
        assert names_in(client.get("/", {"sort": "documents"})) == ["beta", "Alpha"]
        assert names_in(client.get("/", {"sort": "-changed"})) == ["beta", "Alpha"]
        page = client.get("/", {"sort": "documents"}).text
        assert 'class="sort num" aria-sort="ascending"' in page
        assert names_in(client.get("/", {"sort": "nonsense"})) == ["Alpha", "beta"]

    def test_htmx_gets_the_table_alone_and_a_restored_page_the_whole(self, project, owner, sign_in):
        client = sign_in(owner)
        whole = client.get("/")
        part = client.get("/", headers=HTMX)
        assert "<html" in whole.text
        assert "<html" not in part.text
        assert part.text.strip() in whole.text
        assert "HX-Request" in part["Vary"]
        restored = client.get("/", headers={**HTMX, "HX-History-Restore-Request": "true"})
        assert "<html" in restored.text

    def test_the_number_of_queries_does_not_grow_with_the_list(self, owner, sign_in):
        client = sign_in(owner)

        def queries() -> int:
            with CaptureQueriesContext(connection) as captured:
                client.get("/")
            return len(captured)

        factories.make_project(owner=owner)
        one = queries()
        for _ in range(9):
            factories.make_document(factories.make_project(owner=owner))
        assert queries() == one <= 6

    def test_pages_hold_fifty_and_an_impossible_page_is_the_nearest(self, owner, sign_in):
        for _ in range(51):
            factories.make_project(owner=owner)
        client = sign_in(owner)
        first, second = client.get("/"), client.get("/", {"page": "2"})
        assert (len(names_in(first)), len(names_in(second))) == (50, 1)
        assert not set(names_in(first)) & set(names_in(second))
        assert "1–50 of 51" in first.text
        assert names_in(client.get("/", {"page": "999"})) == names_in(second)
        assert names_in(client.get("/", {"page": "x"})) == names_in(first)


class TestListing:
    def listing(self, address: str) -> Listing:
        request = RequestFactory().get(address)
        columns = [
            Column("name", "Name", order_by="name"),
            Column("size", "Size", order_by="pk", kind="number"),
            Column("plain", "Plain"),
        ]
        return Listing(request, Project.objects.all(), columns, default="name", page_size=1)

    @pytest.mark.django_db
    def test_a_header_sorts_turns_round_and_keeps_the_filter(self):
        name, size, plain = self.listing("/?q=a%26b&page=3").columns
        assert name.direction == "ascending"
        assert name.url == "/?q=a%26b&sort=-name"
        # Figures are asked for largest first.
        assert size.url == "/?q=a%26b&sort=-size"
        assert not plain.sortable
        assert self.listing("/?sort=-size").columns[1].url == "/?sort=size"

    @pytest.mark.django_db
    def test_links_to_pages(self):
        for _ in range(3):
            factories.make_project()
        listing = self.listing("/?page=2&sort=size")
        assert listing.previous_url == "/?sort=size"
        assert listing.next_url == "/?page=3&sort=size"
        assert [link.is_current for link in listing.page_links] == [False, True, False]


class TestCreate:
    def test_makes_a_project_and_goes_there(self, owner, sign_in):
        client = sign_in(owner)
        data = {"name": " Harbour ", "description": "Boats", "language": "ja"}
        response = client.post(reverse("project-create"), data)
        project = Project.objects.get()
        assert response.url == project.get_absolute_url()
        assert (project.name, project.description, project.language) == ("Harbour", "Boats", "ja")
        assert Membership.objects.get(project=project).user == owner

    def test_a_taken_name_is_told_at_the_field_and_the_input_kept(self, project, owner, sign_in):
        data = {"name": "HARBOUR", "description": "Mine <b>", "language": "en"}
        response = sign_in(owner).post(reverse("project-create"), data)
        assert response.status_code == 422
        assert "already a project called “HARBOUR”" in response.text
        assert 'aria-describedby="id_name_error"' in response.text
        assert 'value="HARBOUR"' in response.text
        assert "Mine &lt;b&gt;" in response.text
        assert Project.objects.count() == 1

    @pytest.mark.parametrize("name", ["", "x" * 121, "nul\0"])
    def test_an_impossible_name_is_refused(self, owner, sign_in, name):
        response = sign_in(owner).post(reverse("project-create"), {"name": name, "language": "en"})
        assert response.status_code == 422
        assert list(response.context["form"].errors) == ["name"]

    def test_offers_the_language_one_reads_in(self, owner, sign_in):
        client = sign_in(owner)
        page = client.get(reverse("project-create"), headers={"Accept-Language": "ja"})
        assert page.context["form"]["language"].value() == "ja"


class TestOverview:
    def test_an_empty_project_says_what_to_do_next(self, project, owner, viewer, sign_in):
        add = reverse("document-add", args=[project.pk])
        members = reverse("project-members", args=[project.pk])
        Membership.objects.filter(user=viewer).delete()
        page = sign_in(owner).get(project.get_absolute_url()).text
        assert page.count(f'href="{add}"') == 2
        assert "Invite your team" in page
        assert members in page
        factories.make_member(project, Role.VIEWER, viewer)
        page = sign_in(viewer).get(project.get_absolute_url()).text
        assert add not in page
        assert "Invite your team" not in page
        assert "An editor or owner of the project can add them." in page

    def test_shows_documents_activity_and_where_the_feed_continues(self, project, owner, sign_in):
        factories.make_document(project, "chapter1/intro.md", "# 潮流 & 波\n\nText.")
        page = sign_in(owner).get(project.get_absolute_url())
        assert "潮流 &amp; 波" in page.text
        assert "chapter1/intro.md" in page.text
        last = Event.objects.filter(stream__name=project.stream).latest("number").number
        assert f'data-live-after="{last}"' in page.text

    def test_the_part_that_live_news_refresh_is_the_part_of_the_page(self, project, owner, sign_in):
        client = sign_in(owner)
        for name in ("project", "project-activity", "project-members"):
            address = reverse(name, args=[project.pk])
            whole, part = client.get(address).text, client.get(address, headers=HTMX).text
            assert 'hx-trigger="live:' in part
            assert without_tokens(part).strip() in without_tokens(whole)

    def test_the_head_alone_shows_new_counts(self, project, owner, sign_in):
        client = sign_in(owner)
        address = reverse("project-head", args=[project.pk])
        factories.make_document(project)
        part = client.get(address, {"tab": "documents"}).text
        assert re.search(r'id="tab-documents"[^>]*aria-current="page"', part)
        assert '<span class="count">1</span>' in part

    def test_settings_are_offered_to_owners_only(self, project, owner, editor, sign_in):
        link = 'id="tab-settings"'
        assert link in sign_in(owner).get(project.get_absolute_url()).text
        assert link not in sign_in(editor).get(project.get_absolute_url()).text


def without_tokens(text: str) -> str:
    """CSRF tokens are masked anew in every answer."""
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)


class TestSettings:
    def save(self, client, project, **data):
        data = {"name": project.name, "description": "", "language": "en", **data}
        return client.post(reverse("project-settings", args=[project.pk]), data, follow=True)

    def test_renames_and_describes(self, project, owner, sign_in):
        page = self.save(sign_in(owner), project, name="Port", description="Boats", language="ja")
        assert "The settings are saved." in page.text
        project.refresh_from_db()
        assert (project.name, project.description, project.language) == ("Port", "Boats", "ja")
        event = Event.objects.filter(type="project.changed").get()
        assert event.payload["changed"] == ["description", "language", "name"]

    def test_a_taken_name_is_told_at_the_field_and_the_page_keeps_the_old_one(
        self, project, owner, sign_in
    ):
        factories.make_project("Quay", owner=owner)
        page = self.save(sign_in(owner), project, name="quay")
        assert page.status_code == 422
        assert "already a project called “quay”" in page.text
        assert f'<a href="{project.get_absolute_url()}">Harbour</a>' in page.text
        assert 'value="quay"' in page.text

    def test_clone_makes_a_project_of_ones_own(self, project, viewer, sign_in):
        factories.make_document(project, "a.md", "# A")
        client = sign_in(viewer)
        address = reverse("project-clone", args=[project.pk])
        assert 'value="Harbour (copy)"' in client.get(address).text
        response = client.post(address, {"name": "harbour"})
        assert response.status_code == 422
        assert "already a project called" in response.text
        response = client.post(address, {"name": "Marina"})
        copy = Project.objects.get(name="Marina")
        assert response.url == copy.get_absolute_url()
        assert copy.documents.get().content == "# A"
        assert copy.memberships.get().user == viewer

    def test_delete_needs_the_name(self, project, owner, sign_in):
        client = sign_in(owner)
        address = reverse("project-delete", args=[project.pk])
        assert client.get(address).status_code == 405
        response = client.post(address, {"confirm_name": "harbour"})
        assert response.status_code == 422
        assert "Nothing was deleted" in response.text
        assert Project.objects.exists()
        response = client.post(address, {"confirm_name": "Harbour"}, follow=True)
        assert "“Harbour” was deleted" in response.text
        assert not Project.objects.exists()


class TestMembers:
    def invite(self, client, project, username, role="editor"):
        address = reverse("project-members", args=[project.pk])
        return client.post(address, {"username": username, "role": role}, follow=True)

    def test_an_owner_invites_changes_and_removes(self, project, owner, outsider, sign_in):
        client = sign_in(owner)
        assert "“otto” is now a member." in self.invite(client, project, "otto").text
        membership = Membership.objects.get(user=outsider)
        assert membership.role == Role.EDITOR
        args = [project.pk, membership.pk]
        page = client.post(reverse("member-change", args=args), {"role": "viewer"}, follow=True)
        assert "“otto” now has the role “Viewer”." in page.text
        page = client.post(reverse("member-remove", args=args), follow=True)
        assert "“otto” is no longer a member." in page.text
        assert not Membership.objects.filter(user=outsider).exists()

    @pytest.mark.parametrize(
        ("username", "words"),
        [
            ("nobody", "Nobody here is called “nobody”"),
            ("vera", "already a member"),
            ("", "required"),
        ],
    )
    def test_a_wrong_name_is_told_at_the_field(
        self, project, owner, viewer, sign_in, username, words
    ):
        response = self.invite(sign_in(owner), project, username)
        assert response.status_code == 422
        assert words in response.context["form"].errors["username"][0]
        assert project.memberships.count() == 2

    def test_the_last_owner_stays(self, project, owner, sign_in):
        client = sign_in(owner)
        args = [project.pk, project.memberships.get().pk]
        sentence = "A project needs an owner."
        changed = client.post(reverse("member-change", args=args), {"role": "viewer"}, follow=True)
        assert sentence in changed.text
        assert sentence in client.post(reverse("member-remove", args=args), follow=True).text
        assert project.memberships.get().role == Role.OWNER

    def test_an_unknown_role_changes_nothing(self, project, owner, viewer, sign_in):
        membership = project.memberships.get(user=viewer)
        address = reverse("member-change", args=[project.pk, membership.pk])
        page = sign_in(owner).post(address, {"role": "king"}, follow=True)
        assert "There is no such role." in page.text
        membership.refresh_from_db()
        assert membership.role == Role.VIEWER

    def test_an_owner_who_leaves_ends_at_the_list(self, project, owner, viewer, sign_in):
        project.memberships.filter(user=viewer).update(role=Role.OWNER)
        membership = project.memberships.get(user=owner)
        response = sign_in(owner).post(reverse("member-remove", args=[project.pk, membership.pk]))
        assert response.url == reverse("project-list")

    def test_a_member_of_another_project_cannot_be_reached_through_this_one(
        self, project, owner, outsider, sign_in
    ):
        other = factories.make_project("Quay", owner=outsider)
        args = [project.pk, other.memberships.get().pk]
        client = sign_in(owner)
        assert client.post(reverse("member-remove", args=args)).status_code == 404
        assert (
            client.post(reverse("member-change", args=args), {"role": "viewer"}).status_code == 404
        )

    def test_others_see_the_list_without_controls(self, project, viewer, sign_in):
        page = sign_in(viewer).get(reverse("project-members", args=[project.pk])).text
        assert "olive" in page
        assert "<select" not in page
        assert "Invite somebody" not in page


class TestActivity:
    def test_every_kind_of_news_has_a_sentence(self, project, owner, outsider, sign_in):
        membership = add_member(project=project, username="otto", role=Role.VIEWER, actor=owner)
        change_role(membership=membership, role=Role.EDITOR, actor=owner)
        remove_member(membership=membership, actor=owner)
        update_project(project=project, actor=owner, description="Boats")
        update_project(project=project, actor=owner, name="Port")
        document = factories.make_document(project, "a.md")
        rename_document(document=document, path="b.md", actor=owner)
        delete_documents(project=project, ids=[document.pk], actor=owner)
        news = sign_in(owner).get(reverse("project-activity", args=[project.pk])).context["news"]
        assert [re.sub("<[^>]+>", "", item.sentence) for item in news] == [
            "olive deleted 1 document.",
            "olive renamed a.md to b.md.",
            "An operator added 1 document.",
            "olive renamed the project to Port.",
            "olive changed the project’s settings.",
            "olive removed otto.",
            "olive changed the role of otto to Editor.",
            "olive added otto as Viewer.",
            "olive made the project Harbour.",
        ]
        # These two are read elsewhere: after the end of a project, and where its model is set.
        elsewhere = {"project.deleted", "llm.settings_changed"}
        # And those of the apps above and of the glossary, where these are tested.
        tested = ("glossary.", "run.", "repository.", "collection.", "commits.")
        own = {type for type in SENTENCES if not type.startswith(tested)}
        assert {item.type for item in news} | elsewhere == own

    def test_what_nobody_did_is_told_by_its_door(self, project):
        draft = factories.make_document(project, "a.md", source=Source.GIT)
        rename_document(document=draft, path="b.md", actor=OPERATOR)
        delete_documents(project=project, ids=[draft.pk], actor=OPERATOR)
        told = [news_of(event).sentence for event in Event.objects.order_by("pk")[1:]]
        assert [re.sub("<[^>]+>", "", sentence) for sentence in told] == [
            "A collection added 1 document.",
            "A collection renamed a.md to b.md.",
            "A collection deleted 1 document.",
        ]

    def test_many_documents_are_counted_and_a_few_named(self, project):
        paths = [f"{n}.md" for n in range(10)]
        payload = {"created": 30, "updated": 2, "paths": paths, "by": "edda"}
        publish(project.stream, "documents.stored", payload)
        item = news_of(Event.objects.latest("pk"))
        assert "(30)" in item.sentence
        assert (item.paths, item.more) == (paths, 22)

    def test_unknown_and_hostile_news_are_shown_plainly(self, project, owner, sign_in):
        publish(project.stream, "comet.seen<b>", {"paths": ["<script>"]})
        publish(project.stream, "member.added", {"user": "<script>", "role": "king", "by": "%s"})
        publish(project.stream, "documents.stored", {"created": "many"})
        page = sign_in(owner).get(reverse("project-activity", args=[project.pk])).text
        assert "comet.seen&lt;b&gt;" in page
        assert "<strong>%s</strong> added <strong>&lt;script&gt;</strong>" in page

    def test_newest_first_in_pages(self, project, owner, sign_in):
        for n in range(60):
            publish(project.stream, "member.added", {"user": f"u{n}"})
        client = sign_in(owner)
        address = reverse("project-activity", args=[project.pk])
        first = [item.number for item in client.get(address).context["news"]]
        second = [item.number for item in client.get(address, {"page": 2}).context["news"]]
        assert first + second == list(range(61, 0, -1))


@pytest.mark.django_db
class TestAccess:
    PAGES = ("project", "project-head", "project-members", "project-activity", "project-clone")
    FOR_OWNERS = ("project-settings",)
    POSTS_FOR_OWNERS = ("project-settings", "project-delete", "project-members")

    def test_outsiders_are_told_there_is_nothing(self, project, outsider, sign_in):
        client = sign_in(outsider)
        for name in (*self.PAGES, *self.FOR_OWNERS):
            response = client.get(reverse(name, args=[project.pk]))
            assert response.status_code == 404, name
            assert "Harbour" not in response.text
        for name in self.POSTS_FOR_OWNERS:
            assert client.post(reverse(name, args=[project.pk])).status_code == 404, name

    def test_members_are_told_which_role_it_takes(self, project, editor, owner, sign_in):
        client = sign_in(editor)
        membership = project.memberships.get(user=owner)
        for name in self.PAGES:
            assert client.get(reverse(name, args=[project.pk])).status_code == 200, name
        for name in self.FOR_OWNERS:
            response = client.get(reverse(name, args=[project.pk]))
            assert response.status_code == 403
            assert "This needs the role “Owner” in the project." in response.text
        addresses = [reverse(name, args=[project.pk]) for name in self.POSTS_FOR_OWNERS]
        for name in ("member-change", "member-remove"):
            addresses.append(reverse(name, args=[project.pk, membership.pk]))
        for address in addresses:
            assert client.post(address, {"role": "viewer"}).status_code == 403, address
        assert project.memberships.get(user=owner).role == Role.OWNER

    def test_pages_hold_no_inline_script_or_style(self, project, owner, sign_in):
        """The content security policy forbids them: they would silently not work."""
        factories.make_document(project)
        client = sign_in(owner)
        pages = [client.get(reverse(name, args=[project.pk])) for name in self.PAGES]
        pages += [client.get("/"), client.get(reverse("account"))]
        for page in pages:
            assert "default-src 'self'" in page["Content-Security-Policy"]
            assert not re.search(r"\sstyle=|\son\w+=|<script>|<style", page.text)

    def test_error_pages_need_nothing_but_themselves(self, owner, sign_in, settings):
        client = sign_in(owner)
        client.raise_request_exception = False
        missing = client.get("/nothing/here")
        assert missing.status_code == 404
        assert "There is nothing at this address" in missing.text
        broken = server_error(RequestFactory().get("/"))
        assert broken.status_code == 500
        assert "Something went wrong here" in broken.text


class TestAgo:
    @pytest.fixture(autouse=True)
    def in_english(self):
        # A page that another test asked for leaves its language behind in this thread.
        with translation.override("en"):
            yield

    def shown(self, **back) -> str:
        value = timezone.now() - timedelta(**back)
        return Template("{% ago value %}").render(Context({"value": value}))

    @pytest.mark.parametrize(
        ("back", "words"),
        [
            ({"seconds": -5}, "just now"),
            ({"seconds": 50}, "just now"),
            ({"seconds": 60}, "1 minute ago"),
            ({"minutes": 59}, "59 minutes ago"),
            ({"hours": 1}, "1 hour ago"),
            ({"hours": 47}, "1 day ago"),
            ({"days": 29}, "29 days ago"),
        ],
    )
    def test_words(self, back, words):
        text = self.shown(**back)
        assert f">{words}</time>" in text
        assert "data-ago" in text

    def test_long_ago_is_a_date_and_stays_one(self):
        text = self.shown(days=400)
        assert "ago" not in re.sub("<[^>]+>", "", text)
        assert "data-ago" not in text

    def test_nothing_is_a_dash(self):
        assert Template("{% ago value %}").render(Context({"value": None})) == "–"

    def test_the_exact_time_is_in_the_readers_language(self):
        with translation.override("ja"):
            assert "年" in self.shown(hours=3)

"""Statistics, commits and exports as people meet them."""

import csv
import io
import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from collection.choices import Kind
from collection.models import RepositoryFile
from collection.views import lists
from tests import factories
from tests.collection.factories import (
    DAY_ONE,
    a_sha,
    make_branch,
    make_commit,
    make_commits,
    make_repository,
    make_touches,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def dev(repository):
    return make_branch(repository, "dev")


def page(client, project, name="statistics", **query):
    response = client.get(reverse(name, args=[project.pk]), query)
    assert response.status_code == 200
    return response


def queries(client, address):
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


class TestStatistics:
    def test_chart_table_and_totals(self, project, main, dev, reading):
        make_commits(main, 3, additions=1000, deletions=20)
        make_commit(dev, sha=main.commits.first().sha, committed_date=DAY_ONE)
        found = page(reading, project)
        assert found.context["found"].totals.commits == 3
        for piece in ("+3,000", "−60", "Commits per week", "2026-01-05", 'role="img"', "Ada"):
            assert piece in found.text, piece

    def test_the_tab_begins_with_the_last_year(self, project, main, reading):
        """In the filter, where everybody sees it and can take it away."""
        now = timezone.now()
        for days in (10, 400):
            make_commit(main, committed_date=now - timedelta(days=days))
        (since,) = re.findall(r'/statistics/\?since=([-0-9]+)"', page(reading, project).text)
        found = page(reading, project, since=since)
        assert found.context["found"].totals.commits == 1
        assert f'name="since" value="{since}"' in found.text

    @pytest.mark.parametrize("by", ["none", "author", "repository", "branch"])
    @pytest.mark.parametrize("per", ["week", "month"])
    def test_every_way_to_count(self, project, main, dev, reading, by, per):
        for branch in (main, dev):
            make_commits(branch, 2, committed_date=DAY_ONE + timedelta(days=40))
            make_commit(branch, author_name="<b>Bob</b>", author_email="b@x")
        found = page(reading, project, by=by, per=per)
        assert "<b>Bob" not in found.text
        for total in found.context["group_totals"]:
            only = reading.get(total.url)
            assert only.context["found"].totals == total.figures, total

    def test_htmx_gets_the_same_part(self, project, main, reading):
        make_commit(main)
        address = reverse("statistics", args=[project.pk])
        part = reading.get(address, headers=HTMX).text
        assert "<html" not in part
        assert 'id="results"' in part

    def test_bad_input_is_said_and_kept(self, project, main, reading):
        make_commit(main)
        address = reverse("statistics", args=[project.pk]) + "?since=yesterday&branch=main"
        response = reading.get(address)
        assert response.status_code == 400
        assert "“yesterday” is no day" in response.text
        assert 'name="branch" value="main" checked' in response.text
        assert reading.get(address, headers=HTMX).status_code == 200

    def test_what_is_chosen_and_gone_stays_in_the_form(self, project, main, reading):
        make_commit(main)
        text = page(reading, project, repository="987", branch="gone", author="No <n@x>").text
        for value in ("987", "gone", "No &lt;n@x&gt;"):
            assert f'value="{value}" checked' in text

    def test_empty_says_what_to_do(self, project, repository, sign_in, owner, reading):
        assert "To the collections" in page(sign_in(owner), project).text
        make_commit(make_branch(repository))
        assert "Show everything" in page(reading, project, until="2001-01-01").text
        bare = factories.make_project(owner=owner)
        assert "Add repository" in page(sign_in(owner), bare).text

    def test_members_only(self, project, sign_in, outsider):
        for name in ("statistics", "commits", "authors"):
            address = reverse(name, args=[project.pk])
            assert sign_in(outsider).get(address).status_code == 404

    def test_query_budget(self, project, main, dev, reading):
        address = reverse("statistics", args=[project.pk]) + "?by=author"
        make_commits(main, 2)
        few = queries(reading, address)
        for number in range(12):
            branch = make_branch(make_repository(project), f"b{number}")
            make_commits(branch, 8, author_name=f"Person {number}")
        assert queries(reading, address) <= few + 1
        assert few < 45


class TestExport:
    def export(self, client, project, format="csv", **query):
        address = reverse("statistics-export", args=[project.pk, format])
        response = client.get(address, query)
        assert response.status_code == 200
        return response

    def test_exactly_what_is_shown(self, project, main, reading):
        for days in (0, 21):
            make_commits(main, 2, committed_date=DAY_ONE + timedelta(days=days))
        response = self.export(reading, project)
        assert response.content.startswith(b"\xef\xbb\xbf")
        assert "attachment" in response["Content-Disposition"]
        rows = list(csv.reader(io.StringIO(response.content.decode("utf-8-sig"))))
        assert rows[0] == ["week", "commits", "additions", "deletions"]
        shown = page(reading, project).context["listing"].page.paginator.object_list
        expected = [
            [
                line.label,
                *map(str, (line.figures.commits, line.figures.additions, line.figures.deletions)),
            ]
            for line in shown
        ]
        assert rows[1:] == expected
        # The weeks between in which nothing happened have no line.
        assert [row[0] for row in rows[1:]] == ["2026-01-26", "2026-01-05"]

    def test_formulas_are_defused(self, project, main, reading):
        make_commit(main, author_name="=cmd|' /C calc'!A0", author_email="+1\t2@x")
        for format, delimiter in (("csv", ","), ("tsv", "\t")):
            text = self.export(reading, project, format, by="author").content.decode("utf-8-sig")
            rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
            assert rows[0] == ["week", "author", "email", "commits", "additions", "deletions"]
            assert rows[1][1:3] == ["'=cmd|' /C calc'!A0", "'+1 2@x"]

    def test_branches_and_repositories(self, project, main, reading):
        make_commit(main)
        text = self.export(reading, project, "tsv", by="branch", per="month").text
        assert text.splitlines()[1].split("\t")[:3] == ["2026-01", "harbour", "main"]

    def test_other_formats_and_outsiders(self, project, reading, sign_in, outsider):
        address = reverse("statistics-export", args=[project.pk, "exe"])
        assert reading.get(address).status_code == 404
        address = reverse("statistics-export", args=[project.pk, "csv"])
        assert sign_in(outsider).get(address).status_code == 404
        assert reading.get(address, {"per": "day"}).status_code == 302


class TestCommits:
    def shown(self, client, project, **query):
        lines = page(client, project, "commits", **query).context["lines"]
        return [line.commit.subject for line in lines]

    def test_newest_first_each_once(self, project, main, dev, reading):
        make_commit(main, subject="old", committed_date=DAY_ONE)
        both = {"sha": a_sha("both"), "committed_date": DAY_ONE + timedelta(days=1)}
        for branch in (main, dev):
            make_commit(branch, subject="both", **both)
        make_commit(dev, subject="new", committed_date=DAY_ONE + timedelta(days=2))
        assert self.shown(reading, project) == ["new", "both", "old"]
        (line,) = page(reading, project, "commits", q="both").context["lines"]
        assert line.branches == ["dev", "main"]
        assert self.shown(reading, project, branch="dev") == ["new", "both"]

    def test_filters(self, project, main, reading):
        other = make_branch(make_repository(project, "other"))
        one = make_commit(main, subject="Tides", author_name="Ada", author_email="ada@x")
        two = make_commit(other, subject="Buoys", author_name="Bob", author_email="bob@x")
        gone = make_commit(main, subject="Gone", unreachable=True)
        make_touches(one, ["docs/tides.md"])
        for query, subjects in (
            ({"repository": other.repository_id}, ["Buoys"]),
            ({"q": "tid"}, ["Tides"]),
            ({"q": "BOB@"}, ["Buoys"]),
            ({"q": two.sha[:8].upper()}, ["Buoys"]),
            ({"author": "Ada <ada@x>"}, ["Tides"]),
            ({"path": "docs/tides.md"}, ["Tides"]),
            ({"path": "docs"}, ["Tides"]),
            ({"path": "doc"}, []),
            ({"until": "2020-01-01"}, []),
        ):
            assert self.shown(reading, project, **query) == subjects, query
        assert gone.subject in self.shown(reading, project, unreachable=1)
        assert "left behind" in page(reading, project, "commits", unreachable=1).text

    def test_what_all_projects_see_and_what_not(self, project, reading):
        make_commit(make_branch(make_repository(None)), subject="shared")
        strange = make_commit(make_branch(make_repository(factories.make_project())))
        assert self.shown(reading, project) == ["shared"]
        address = reverse("commit", args=[project.pk, strange.pk])
        assert reading.get(address).status_code == 404

    def test_pages_are_capped(self, project, main, reading, monkeypatch):
        monkeypatch.setattr(lists, "MOST_ROWS", 60)
        make_commits(main, 60)
        assert "These are the newest" not in page(reading, project, "commits").text
        make_commits(main, 10, committed_date=DAY_ONE + timedelta(days=90))
        last = page(reading, project, "commits", page=99)
        assert len(last.context["lines"]) == 10
        assert "These are the newest 60." in last.text

    def test_query_budget(self, project, main, reading):
        address = reverse("commits", args=[project.pk])
        make_commit(main)
        few = queries(reading, address)
        for number in range(4):
            branch = make_branch(make_repository(project), f"b{number}")
            make_commits(branch, 10, author_name=f"Person {number}")
        assert queries(reading, address) <= few + 1

    def test_empty_says_what_to_do(self, project, reading, sign_in, owner):
        assert "Add repository" in page(sign_in(owner), project, "commits").text
        assert "No commit matches" in page(reading, project, "commits", q="zzz").text


class TestCommit:
    def test_everything_about_it(self, project, repository, main, dev, reading):
        document = factories.make_document(project, "docs/tides.md")
        RepositoryFile.objects.create(
            repository=repository, path="docs/tides.md", blob="x", document=document
        )
        parent = make_commit(main, subject="Before")
        commit = make_commit(
            main, subject="<i>Tides</i>", parents=f"{parent.sha} {a_sha('unknown')}", additions=7
        )
        make_commit(dev, sha=commit.sha, unreachable=True)
        make_touches(commit, ["docs/tides.md", "docs/gone.md"])
        text = reading.get(reverse("commit", args=[project.pk, commit.pk])).text
        for piece in (
            "&lt;i&gt;Tides&lt;/i&gt;",
            commit.sha,
            reverse("commit", args=[project.pk, parent.pk]),
            a_sha("unknown")[:10],
            "not collected",
            document.get_absolute_url(),
            "docs/gone.md",
            "+7",
            "left behind",
        ):
            assert piece in text, piece
        assert "no branch has this commit any more" not in text

    def test_left_behind_by_all(self, project, main, reading):
        commit = make_commit(main, unreachable=True)
        text = reading.get(reverse("commit", args=[project.pk, commit.pk])).text
        assert "no branch has this commit any more" in text

    def test_where_its_host_shows_it(self, project, reading):
        for kind, path in ((Kind.GITHUB, "/commit/"), (Kind.GITLAB, "/-/commit/"), (Kind.GIT, "")):
            web = make_repository(project, kind=kind, address=f"https://h.example/a/{kind}")
            commit = make_commit(make_branch(web))
            found = reading.get(reverse("commit", args=[project.pk, commit.pk]))
            expected = f"https://h.example/a/{kind}{path}{commit.sha}" if path else ""
            assert found.context["web_address"] == expected

"""The database counts as plain Python does, in any time zone."""

import random
from collections import defaultdict
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from collection.identities import Identity
from collection.models import Commit
from collection.services.authors import merge_authors
from collection.statistics.asking import By, Filter, Per
from collection.statistics.counting import Figures, people_totals, statistics
from collection.statistics.periods import start_of
from projects.access import OPERATOR
from tests import factories
from tests.collection.factories import a_sha, commit_row, make_branch, make_commit, make_repository

pytestmark = pytest.mark.django_db

PEOPLE = [
    Identity("Ada", "ada@example.com"),
    Identity("ada", "ada@home.example"),
    Identity("Bob", "bob@example.com"),
    Identity("綾", "aya@example.jp"),
]


@pytest.fixture(params=["UTC", "Asia/Tokyo", "America/New_York", "Asia/Kathmandu"])
def zone(request, settings):
    settings.TIME_ZONE = request.param
    timezone.get_default_timezone.cache_clear()
    yield ZoneInfo(request.param)
    timezone.get_default_timezone.cache_clear()


@pytest.fixture
def histories(project):
    """Random commits in three repositories, on one or more branches, some left behind; one
    repository belongs to all, one to somebody else."""
    chance = random.Random(20260105)
    repositories = [make_repository(project, "one"), make_repository(None, "all")]
    strange = make_repository(factories.make_project(), "strange")
    rows = []
    for repository in [*repositories, strange]:
        branches = [make_branch(repository, name) for name in ("main", "dev", "old")]
        for number in range(70):
            # Often near midnight and the end of a week, where zones differ.
            day = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(days=chance.randrange(900))
            moment = day + timedelta(hours=chance.choice([0, 3, 4, 5, 14, 15, 18, 23]))
            person = chance.choice(PEOPLE)
            facts = {
                "sha": a_sha(f"{repository.pk} {number}"),
                "author_name": person.name,
                "author_email": person.email,
                "committed_date": moment + timedelta(seconds=chance.randrange(3600)),
                "additions": chance.randrange(500),
                "deletions": chance.randrange(100),
            }
            for branch in chance.sample(branches, chance.choice([1, 1, 2, 3])):
                rows.append(commit_row(branch, unreachable=chance.random() < 0.2, **facts))
    Commit.objects.bulk_create(rows)
    seen = Commit.objects.select_related("branch", "repository").exclude(repository=strange)
    return list(seen)


def reckoned(rows, filter, zone, people=None):
    """The same with nothing but loops."""
    person_of = people or {}
    counted = defaultdict(lambda: [0, 0, 0])
    seen = set()
    for row in rows:
        day = row.committed_date.astimezone(zone).date()
        person = person_of.get(Identity(row.author_name, row.author_email)) or Identity(
            row.author_name, row.author_email
        )
        if (
            (filter.repositories and row.repository_id not in filter.repositories)
            or (filter.branches and row.branch.name not in filter.branches)
            or (filter.authors and str(person) not in filter.authors)
            or (filter.since and day < filter.since)
            or (filter.until and day > filter.until)
            or (row.unreachable and not filter.include_unreachable)
        ):
            continue
        group = {
            By.NONE: "",
            By.AUTHOR: str(person),
            By.REPOSITORY: str(row.repository_id),
            By.BRANCH: (row.repository_id, row.branch.name),
        }[filter.by]
        once = (row.repository_id, row.sha, group if filter.by == By.BRANCH else None)
        if once in seen:
            continue
        seen.add(once)
        figures = counted[start_of(filter.per, day), group]
        figures[0] += 1
        figures[1] += row.additions
        figures[2] += row.deletions
    return {key: tuple(figures) for key, figures in counted.items()}


def as_dict(found):
    return {
        (
            row.period_start,
            (row.group.repository_id, row.group.key) if found.by == By.BRANCH else row.group.key,
        ): (row.commits, row.additions, row.deletions)
        for row in found.rows
    }


def check(project, rows, filter, zone, people=None):
    found = statistics(project, filter)
    expected = reckoned(rows, filter, zone, people)
    assert as_dict(found) == expected
    whole = {"by": By.NONE} if filter.by == By.BRANCH else {}
    once = reckoned(rows, Filter(**{**vars(filter), **whole}), zone, people)
    totals = tuple(map(sum, zip(*once.values(), strict=True))) if once else (0, 0, 0)
    assert found.totals == Figures(*totals)
    by_group = defaultdict(int)
    for row in found.rows:
        by_group[row.group] += row.commits
    assert {each.group: each.figures.commits for each in found.group_totals} == by_group
    return found


def test_as_plain_python_counts(project, histories, zone):
    for per in Per:
        for by in By:
            assert check(project, histories, Filter(per=per, by=by), zone).rows
    one = histories[0].repository_id
    for narrowed in (
        {"repositories": (one,)},
        {"branches": ("dev",)},
        {"branches": ("dev", "old")},
        {"branches": ("dev", "old"), "by": By.BRANCH},
        {"authors": ("Ada <ada@example.com>", "綾 <aya@example.jp>")},
        {"since": date(2024, 12, 30), "until": date(2025, 3, 2)},
        {"include_unreachable": True},
        {"repositories": (one,), "branches": ("main",), "include_unreachable": True},
        {"repositories": (one + 10_000,)},
    ):
        check(project, histories, Filter(**narrowed), zone)


def test_persons_are_counted_as_one(project, histories):
    merge_authors(project=project, into=PEOPLE[0], identities=PEOPLE[:2], actor=OPERATOR)
    people = {PEOPLE[1]: PEOPLE[0]}
    found = check(project, histories, Filter(by=By.AUTHOR), UTC, people)
    assert {each.group.label for each in found.group_totals} == {"Ada", "Bob", "綾"}
    # By the name from before the merge, too.
    old = statistics(project, Filter(authors=(str(PEOPLE[1]),))).totals
    assert old == statistics(project, Filter(authors=(str(PEOPLE[0]),))).totals
    totals = {each.person: each for each in people_totals(project, Filter())}
    assert set(totals) == {PEOPLE[0], PEOPLE[2], PEOPLE[3]}
    assert {name for name, _figures in totals[PEOPLE[0]].identities} == set(PEOPLE[:2])
    assert totals[PEOPLE[0]].figures == old


def test_empty_periods_are_there(main):
    project = main.repository.project
    make_commit(main, committed_date=datetime(2026, 1, 7, tzinfo=UTC))
    make_commit(main, committed_date=datetime(2026, 2, 1, 23, tzinfo=UTC))
    found = statistics(project, Filter())
    assert found.periods == [date(2026, 1, 5) + timedelta(days=7 * n) for n in range(4)]
    asked = Filter(per=Per.MONTH, since=date(2025, 11, 30), until=date(2026, 3, 1))
    months = statistics(project, asked).periods
    assert months == [date(2025, 11, 1), date(2025, 12, 1), *(date(2026, m, 1) for m in (1, 2, 3))]
    # Nothing there, and still the periods that were asked for.
    empty = statistics(project, Filter(since=date(2020, 1, 1), until=date(2020, 1, 6)))
    assert (empty.rows, empty.periods) == ([], [date(2019, 12, 30), date(2020, 1, 6)])


def test_a_wrong_clock_makes_no_endless_list(main):
    project = main.repository.project
    for year in (1902, 2900):
        make_commit(main, committed_date=datetime(year, 1, 6, tzinfo=UTC))
    assert len(statistics(project, Filter()).periods) == 2
    assert len(statistics(project, Filter(since=date(1900, 1, 1), until=date(1950, 1, 1))).periods)


def test_namesakes_are_told_apart(main):
    for email in ("a@example.com", "b@example.com"):
        make_commit(main, author_name="Kim", author_email=email)
    found = statistics(main.repository.project, Filter(by=By.AUTHOR))
    assert {each.label for each in found.groups} == {"Kim <a@example.com>", "Kim <b@example.com>"}


def test_few_queries_however_much_there_is(project, histories):
    for by in By:
        with CaptureQueriesContext(connection) as captured:
            statistics(project, Filter(by=by))
        assert len(captured) <= 7, by

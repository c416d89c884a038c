"""Commits and lines by time: the counting is the database's, the people are put together here."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple, TypeVar

from django.db.models import Count, Exists, Max, Min, OuterRef, Sum, Value
from django.db.models.functions import Concat

from collection.identities import Identity, People
from collection.models import Branch, Commit, Repository
from collection.querysets import CommitQuerySet
from collection.statistics.asking import By, Filter, Per
from collection.statistics.periods import (
    count_between,
    midnight,
    period_in_database,
    periods_between,
)
from projects.models import Project

Key = TypeVar("Key", bound=Hashable)

# Periods without a commit are listed up to here. Beyond, somebody asks from the year 1900 on, or a
# clock was wrong by centuries.
MOST_PERIODS = 6000


# Of these three there may be hundreds of thousands: tuples are made and compared far faster than
# data classes.


class Figures(NamedTuple):
    commits: int = 0
    additions: int = 0
    deletions: int = 0

    def __add__(self, other: object) -> "Figures":
        if not isinstance(other, Figures):
            return NotImplemented
        return Figures(self[0] + other[0], self[1] + other[1], self[2] + other[2])


class Group(NamedTuple):
    """What is counted together: a person, a repository, a branch of one, or everything."""

    # As a filter calls it: “Name <address>”, the number of a repository, the name of a branch.
    key: str = ""
    label: str = ""
    # Of a branch: names are the same in many repositories.
    repository_id: int | None = None


class Row(NamedTuple):
    period_start: date
    group: Group
    commits: int
    additions: int
    deletions: int


@dataclass(frozen=True)
class GroupTotal:
    group: Group
    figures: Figures


@dataclass(frozen=True)
class Statistics:
    per: Per
    by: By
    # By period, the busiest group first; without those that have no commits.
    rows: list[Row]
    # A commit that several groups have (branches) is counted once here, and in `by_period`.
    totals: Figures
    by_period: Mapping[date, Figures]
    # The busiest first.
    group_totals: list[GroupTotal]
    # Every period from the first to the last, with or without commits.
    periods: list[date]

    @property
    def groups(self) -> list[Group]:
        return [each.group for each in self.group_totals]


@dataclass(frozen=True)
class PersonTotal:
    """A person, and the names that commits have for them."""

    person: Identity
    figures: Figures
    identities: tuple[tuple[Identity, Figures], ...]


ALL = Group()


def statistics(project: Project, filter: Filter) -> Statistics:
    """A commit that is on several branches counts once, unless they are counted one by one."""
    return _Counting(project, filter).statistics()


def people_totals(project: Project, filter: Filter) -> list[PersonTotal]:
    """The persons and their names, the busiest first, whatever the filter counts by."""
    return _Counting(project, filter).people_totals()


def commits_of(project: Project, filter: Filter, *, people: People | None = None) -> CommitQuerySet:
    """The rows that a filter asks for, one for each branch that has a commit."""
    near = _of_time_and_place(project, filter)
    return _narrowed(near, filter, people or People.of(project))


def _narrowed(rows: CommitQuerySet, filter: Filter, people: People) -> CommitQuerySet:
    if filter.branches:
        rows = rows.filter(branch__name__in=filter.branches)
    if not filter.include_unreachable:
        rows = rows.filter(unreachable=False)
    if filter.authors:
        asked = people.all_identities(map(Identity.read, filter.authors))
        rows = rows.annotate(
            identity=Concat("author_name", Value(" <"), "author_email", Value(">"))
        ).filter(identity__in=[str(each) for each in asked])
    return rows


def _of_time_and_place(project: Project, filter: Filter) -> CommitQuerySet:
    """As much as the index on repository and date can tell."""
    ids = Repository.objects.seen_by(project).order_by().values_list("pk", flat=True)
    # By numbers and not by a join, or it would not be used.
    wanted = [pk for pk in ids if not filter.repositories or pk in filter.repositories]
    rows: CommitQuerySet = Commit.objects.filter(repository_id__in=wanted).order_by()
    if filter.since:
        rows = rows.filter(committed_date__gte=midnight(filter.since))
    if filter.until:
        rows = rows.filter(committed_date__lt=midnight(filter.until + timedelta(days=1)))
    return rows


def each_once(rows: CommitQuerySet, filter: Filter) -> CommitQuerySet:
    """Of the rows of one commit, that of its first branch (of those that are asked for)."""
    earlier = Commit.objects.filter(
        repository_id=OuterRef("repository_id"),
        sha=OuterRef("sha"),
        branch_id__lt=OuterRef("branch_id"),
    )
    if filter.branches:
        earlier = earlier.filter(branch__name__in=filter.branches)
    if not filter.include_unreachable:
        earlier = earlier.filter(unreachable=False)
    return rows.filter(~Exists(earlier))


class _Counting:
    def __init__(self, project: Project, filter: Filter) -> None:
        self._filter = filter
        self._people = People.of(project)
        self._project = project
        self._near = _of_time_and_place(project, filter)
        self._rows = _narrowed(self._near, filter, self._people)
        self._branches = self._branch_groups()
        # Where each repository has one branch only, nothing is there twice, and nothing is to be
        # looked for.
        repositories = [group.repository_id for group in self._branches.values()]
        several = len(set(repositories)) < len(repositories)
        self._once = each_once(self._rows, filter) if several else self._rows

    def _branch_groups(self) -> dict[int, Group]:
        """The branches that can have rows of the filter."""
        seen = Repository.objects.seen_by(self._project)
        branches = Branch.objects.filter(repository__in=seen)
        if self._filter.repositories:
            branches = branches.filter(repository__in=self._filter.repositories)
        if self._filter.branches:
            branches = branches.filter(name__in=self._filter.branches)
        found = branches.order_by("repository__name", "name", "pk")
        return {
            pk: Group(key=name, label=f"{repository} · {name}", repository_id=repository_id)
            for pk, name, repository_id, repository in found.values_list(
                "pk", "name", "repository_id", "repository__name"
            )
        }

    def statistics(self) -> Statistics:
        by, per = self._filter.by, self._filter.per
        counted = self._counted(by)
        if by == By.AUTHOR:
            counted = _told_apart(counted)
        by_group = _put_together((group, figures) for (_period, group), figures in counted.items())
        totals = [GroupTotal(group, figures) for group, figures in by_group.items()]
        totals.sort(key=lambda each: (-each.figures.commits, each.group.label, each.group.key))
        order = {each.group: number for number, each in enumerate(totals)}
        rows = [Row(period, group, *figures) for (period, group), figures in counted.items()]
        rows.sort(key=lambda row: (row.period_start, order[row.group]))
        once = self._counted(By.NONE) if by == By.BRANCH else counted
        whole = _put_together((period, figures) for (period, _group), figures in once.items())
        return Statistics(
            per=per,
            by=by,
            rows=rows,
            totals=sum(whole.values(), Figures()),
            by_period=whole,
            group_totals=totals,
            periods=self._periods(rows),
        )

    def people_totals(self) -> list[PersonTotal]:
        names: dict[Identity, list[tuple[Identity, Figures]]] = defaultdict(list)
        for name, email, *figures in _summed(self._once, "author_name", "author_email"):
            identity = Identity(name, email)
            names[self._people.person(identity)].append((identity, Figures(*figures)))
        found = [
            PersonTotal(
                person=person,
                figures=sum((figures for _name, figures in known), Figures()),
                identities=tuple(sorted(known, key=lambda each: (-each[1].commits, each[0]))),
            )
            for person, known in names.items()
        ]
        return sorted(found, key=lambda each: (-each.figures.commits, each.person))

    def _counted(self, by: By) -> Mapping[tuple[date, Group], Figures]:
        span = self._near.aggregate(first=Min("committed_date"), last=Max("committed_date"))
        if span["first"] is None:
            return {}
        period = period_in_database(self._filter.per, "committed_date", **span)
        keys = {
            By.NONE: (),
            By.AUTHOR: ("author_name", "author_email"),
            By.REPOSITORY: ("repository_id",),
            By.BRANCH: ("branch_id",),
        }[by]
        # Each branch is counted by itself; in it nothing is there twice.
        rows = self._rows if by == By.BRANCH else self._once
        group_of = self._groups(by)
        found = _summed(rows.annotate(period=period), "period", *keys)
        # Several names may be one person.
        return _put_together(((row[0], group_of(row[1:-3])), row[-3:]) for row in found)

    def _groups(self, by: By) -> Callable[[tuple[Any, ...]], Group]:
        """From what the database groups by to the group."""
        known: dict[tuple[Any, ...], Group] = {}
        if by == By.REPOSITORY:
            names = Repository.objects.seen_by(self._project).values_list("pk", "name")
            known = {(pk,): Group(key=str(pk), label=name) for pk, name in names}
        elif by == By.BRANCH:
            known = {(pk,): group for pk, group in self._branches.items()}

        def group_of(key: tuple[Any, ...]) -> Group:
            if not key:
                return ALL
            if key not in known:
                person = self._people.person(Identity(*key))
                known[key] = Group(key=str(person), label=person.name or person.email)
            return known[key]

        return group_of

    def _periods(self, rows: Sequence[Row]) -> list[date]:
        """From the day that was asked for; where that is too far away, from the first commit."""
        per, since, until = self._filter.per, self._filter.since, self._filter.until
        spans = [(since, until)]
        if rows:
            first, last = rows[0].period_start, rows[-1].period_start
            spans = [(since or first, until or last), (first, last)]
        for start, end in spans:
            if start and end and count_between(per, start, end) <= MOST_PERIODS:
                return list(periods_between(per, start, end))
        return sorted({row.period_start for row in rows})


def _put_together(figures: Iterable[tuple[Key, Sequence[int]]]) -> dict[Key, Figures]:
    sums: dict[Key, list[int]] = defaultdict(lambda: [0, 0, 0])
    for key, (commits, additions, deletions) in figures:
        each = sums[key]
        each[0] += commits
        each[1] += additions
        each[2] += deletions
    return {key: Figures(*each) for key, each in sums.items()}


def _told_apart(
    counted: Mapping[tuple[date, Group], Figures],
) -> Mapping[tuple[date, Group], Figures]:
    """Persons of one name are called by their addresses as well."""
    groups = {group for _period, group in counted}
    labels = Counter(group.label for group in groups)
    clear = {
        group: group._replace(label=group.key) if labels[group.label] > 1 else group
        for group in groups
    }
    return {(period, clear[group]): figures for (period, group), figures in counted.items()}


def _summed(rows: Any, *keys: str) -> Any:
    sums = {"n": Count("pk"), "added": Sum("additions"), "deleted": Sum("deletions")}
    return rows.values_list(*keys).annotate(**sums)

"""The terms of a project as a run takes them: a copy, so that runs can be compared."""

from collections import defaultdict

from django.db.models import OuterRef, Subquery

from glossary_site.inserting import insert
from projects.choices import TermStatus
from projects.models import Term
from runs.models import Run, RunTerm


def snapshot_terms(run: Run, *, limit: int = 0) -> int:
    """Copy the project's list, or only so many of it that get an entry, the best ones and those
    that are required; gives their number. Of synonyms, only the primary of the group does, and
    knows the others."""
    project = Term.objects.filter(project=run.project).exclude(status=TermStatus.EXCLUDED)
    best_first = project.order_by("-score", "key")
    groups: dict[int | None, list[Term]] = defaultdict(list)
    for term in best_first.filter(group__isnull=False).select_related("group"):
        groups[term.group_id].append(term)
    leaders = {_leader(members).pk for members in groups.values()}
    copies: list[RunTerm] = []
    count = 0
    # Where they stand goes from table to table within the database: it is nearly all of the data.
    for term in best_first.defer("variants", "occurrences"):
        if term.group_id is not None and term.pk not in leaders:
            continue
        gets_an_entry = term.status != TermStatus.AUTO_EXCLUDED
        if gets_an_entry and 0 < limit <= count and term.status != TermStatus.REQUIRED:
            continue
        count += gets_an_entry
        copies.append(_copy(run, term, order=len(copies)))
    RunTerm.objects.filter(run=run).delete()
    insert(copies)
    its_term = project.filter(key=OuterRef("key"))
    RunTerm.objects.filter(run=run).update(
        variants=Subquery(its_term.values("variants")),
        occurrences=Subquery(its_term.values("occurrences")),
    )
    for members in groups.values():
        _take_together(run, members)
    return count


def _leader(members: list[Term]) -> Term:
    """The primary; where people have excluded it, the best of those that are left."""
    primary = [term for term in members if term.group and term.group.primary_id == term.pk]
    required = [term for term in members if term.status == TermStatus.REQUIRED]
    return (primary or required or members)[0]


def _copy(run: Run, term: Term, *, order: int) -> RunTerm:
    because = term.reason or term.category or TermStatus.AUTO_EXCLUDED
    return RunTerm(
        run=run,
        text=term.text,
        key=term.key,
        reading=term.reading,
        language=term.language,
        category=term.category,
        order=order,
        score=term.score,
        frequency=term.frequency,
        document_count=term.document_count,
        note=term.notes,
        excluded_because=because if term.status == TermStatus.AUTO_EXCLUDED else "",
    )


def _take_together(run: Run, members: list[Term]) -> None:
    """What the leader of a group has of the others."""
    leader = _leader(members)
    others = [each for each in members if each.pk != leader.pk]
    each_of = [leader, *others]
    RunTerm.objects.filter(run=run, key=leader.key).update(
        frequency=sum(each.frequency for each in each_of),
        document_count=max(each.document_count for each in each_of),
        variants=list(dict.fromkeys(name for each in each_of for name in each.variants)),
        occurrences=[place for each in each_of for place in each.occurrences],
        synonyms=[each.text for each in others],
    )

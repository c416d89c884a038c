"""The terms of a project as a run takes them: a copy, so that runs can be compared."""

from collections import defaultdict

from glossary_site.inserting import insert
from projects.choices import TermStatus
from projects.models import Term
from runs.models import Run, RunTerm


def snapshot_terms(run: Run, *, limit: int = 0) -> int:
    """Copy the project's list, or only so many of it that get an entry, the best ones and those
    that are required; gives their number. Of synonyms, only the primary of the group does, and
    knows the others."""
    terms = list(
        Term.objects.filter(project=run.project)
        .exclude(status=TermStatus.EXCLUDED)
        .select_related("group")
        .order_by("-score", "key")
    )
    groups: dict[int, list[Term]] = defaultdict(list)
    for term in terms:
        if term.group_id is not None:
            groups[term.group_id].append(term)
    copies: list[RunTerm] = []
    leaders = {number: _leader(members).pk for number, members in groups.items()}
    count = 0
    for term in terms:
        if term.group_id is not None and leaders[term.group_id] != term.pk:
            continue
        others = [each for each in groups.get(term.group_id or 0, []) if each.pk != term.pk]
        copy = _copy(run, term, others, order=len(copies))
        gets_an_entry = not copy.excluded_because
        if gets_an_entry and 0 < limit <= count and term.status != TermStatus.REQUIRED:
            continue
        count += gets_an_entry
        copies.append(copy)
    RunTerm.objects.filter(run=run).delete()
    insert(copies)
    return count


def _leader(members: list[Term]) -> Term:
    """The primary; where people have excluded it, the best of those that are left."""
    primary = [term for term in members if term.group and term.group.primary_id == term.pk]
    required = [term for term in members if term.status == TermStatus.REQUIRED]
    return (primary or required or members)[0]


def _copy(run: Run, term: Term, others: list[Term], *, order: int) -> RunTerm:
    excluded = term.status == TermStatus.AUTO_EXCLUDED
    return RunTerm(
        run=run,
        text=term.text,
        key=term.key,
        reading=term.reading,
        language=term.language,
        category=term.category,
        order=order,
        score=term.score,
        frequency=term.frequency + sum(other.frequency for other in others),
        document_count=max([term.document_count, *(other.document_count for other in others)]),
        variants=list(dict.fromkeys([*term.variants, *(v for o in others for v in o.variants)])),
        occurrences=[*term.occurrences, *(place for o in others for place in o.occurrences)],
        synonyms=[other.text for other in others],
        note=term.notes,
        excluded_because=(term.reason or term.category or TermStatus.AUTO_EXCLUDED)
        if excluded
        else "",
    )

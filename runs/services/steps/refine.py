"""Entries with issues, anew; all others as they are."""

from collections.abc import Iterable, Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from glossary_site.inserting import NOTHING, insert
from glossary_site.llm.requests import Result
from runs.choices import IssueKind
from runs.models import RefinedEntry
from runs.pipeline import refine as pipeline
from runs.pipeline.data import Entry, Failure, Issue
from runs.pipeline.joining import join
from runs.services.asking import answered, failures_of, finishing, take_in
from runs.services.rows import entry_of, entry_row, issue_of
from runs.services.work import Work

# So many of those that became other names a line of the log has.
MOST_NAMED = 20


def refine(work: Work) -> None:
    entries = work.provisional
    issues = [issue_of(row) for row in work.run.issues.order_by("order", "pk")]
    order = {key: place for place, key in enumerate(entries)}
    concerned = pipeline.concerned(entries.values(), issues)
    names = {key: entries[key].term for key in concerned}
    if names:
        # Answers are checked against the documents within a transaction: not read there for it.
        work.finder.prepare([work.terms[key] for key in names if key in work.terms])

    all_names = pipeline.names_of(entries.values())

    def store(results: Iterable[Result]) -> list[Failure]:
        refined: list[Entry] = []
        failures: list[Failure] = []
        for result in results:
            if not result.ok:
                failures += failures_of(result, names)
                continue
            read = pipeline.read(
                result.key,
                result.data,
                entries=entries,
                terms=work.terms,
                finder=work.finder,
                names=all_names,
                lists=work.lists,
            )
            refined += [each for each in read if isinstance(each, Entry)]
            failures += [each for each in read if isinstance(each, Failure)]
        _save(work, refined, order, copied=False)
        return failures

    # No issues: nobody is asked.
    answered(
        work,
        lambda: pipeline.requests(
            list(entries.values()),
            issues,
            work.finder,
            terms=work.terms,
            language=work.language,
            builtin=work.builtin,
            most_tokens=work.most_tokens,
        ),
        names=names,
        store=store,
    )
    with finishing(work) as results:
        take_in(work, store, results)
        there = set(work.run.refined.values_list("key", flat=True))
        rest = [entry for key, entry in entries.items() if key not in there]
        _save(work, rest, order, copied=True)
        changed = work.run.refined.filter(copied=False).count()
        lines = [
            ngettext("%(n)s entry was refined, ", "%(n)s entries were refined, ", changed)
            % {"n": changed}
            + _("%(n)s taken over as they are.") % {"n": len(entries) - changed}
        ]
        if gone := _join(work, issues):
            words = ngettext(
                "%(n)s entry became another name of one that is about the same: %(names)s.",
                "%(n)s entries became other names of those that are about the same: %(names)s.",
                len(gone),
            )
            named = [f"{entries[key].term} → {entries[head].term}" for key, head in gone.items()]
            shown = ", ".join(named[:MOST_NAMED]) + (", …" if len(named) > MOST_NAMED else "")
            lines.append(words % {"n": len(gone), "names": shown})
        work.progress(len(names), len(names), lines=[work.line(line) for line in lines])


def _join(work: Work, issues: Iterable[Issue]) -> Mapping[str, str]:
    if not any(issue.kind == IssueKind.DUPLICATE for issue in issues):
        return {}
    rows = {row.key: row for row in work.run.refined.order_by("order")}
    refined = {key: entry_of(row) for key, row in rows.items()}
    joined = join(refined, issues, work.lists.required.keys())
    work.run.refined.filter(key__in=[*joined.gone, *joined.changed]).delete()
    insert(
        [
            entry_row(RefinedEntry, work.run, entry, order=rows[key].order, copied=False)
            for key, entry in joined.changed.items()
        ]
    )
    return joined.gone


def _save(work: Work, entries: Iterable[Entry], order: dict[str, int], *, copied: bool) -> None:
    """One that came back as it was counts as taken over."""
    before = work.provisional
    rows = [
        entry_row(
            RefinedEntry,
            work.run,
            entry,
            order=order[entry.key],
            copied=copied or before[entry.key] == entry,
        )
        for entry in entries
    ]
    insert(rows, on_conflict=NOTHING)

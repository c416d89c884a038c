"""A definition for each term, stored as it comes."""

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from glossary_site.errors import Refusal
from glossary_site.inserting import NOTHING, insert
from glossary_site.llm.requests import Result
from projects.services.locking import lock_project
from runs.models import ProvisionalEntry
from runs.pipeline import generate as pipeline
from runs.pipeline.data import Entry, Failure, Term
from runs.services.asking import NoAnswers, answered, failures_of, finishing, take_in
from runs.services.rows import entry_row
from runs.services.terms import snapshot_terms
from runs.services.work import Work


def generate(work: Work) -> None:
    if not work.run.terms.exists():
        with work.session.atomic():
            # The list is read more than once, and is to be the same each time.
            lock_project(work.project)
            snapshot_terms(work.run, limit=work.options.limit)
    terms = _wanted(work)
    if not terms and not work.run.provisional.exists():
        raise Refusal("no_terms", _("There are no terms to define. Find terms first, or add some."))
    names = {term.key: term.text for term in terms}
    # Answers are checked against the documents within a transaction: not read there for it.
    work.finder.prepare(work.terms.values())

    def store(results: Iterable[Result]) -> list[Failure]:
        entries: list[Entry] = []
        failures: list[Failure] = []
        for result in results:
            if not result.ok:
                failures += failures_of(result, names)
                continue
            read = pipeline.read(
                result.key, result.data, terms=work.terms, finder=work.finder, lists=work.lists
            )
            entries += [each for each in read if isinstance(each, Entry)]
            failures += [each for each in read if isinstance(each, Failure)]
        rows = [
            entry_row(ProvisionalEntry, work.run, entry, order=work.order[entry.key])
            for entry in entries
        ]
        insert(rows, on_conflict=NOTHING)
        return failures

    answered(
        work,
        lambda: pipeline.requests(
            list(work.terms.values()),
            work.finder,
            only=names,
            language=work.language,
            builtin=work.builtin,
            most_tokens=work.most_tokens,
        ),
        names=names,
        store=store,
    )
    with finishing(work) as results:
        take_in(work, store, results)
        count = work.run.provisional.count()
        if not count:
            mine = work.run.failures.filter(step=work.step.step)
            raise NoAnswers(mine.values_list("error", flat=True).first() or "")
        written = ngettext("%(n)s definition.", "%(n)s definitions.", count) % {"n": count}
        work.progress(len(terms), len(terms), lines=[work.line(written)])


def _wanted(work: Work) -> list[Term]:
    """Once asked, the same whenever it is asked again; else those that have no entry yet."""
    only = work.options.only
    there: set[str] = set()
    if work.step.process_id is None:
        there.update(work.run.provisional.values_list("key", flat=True))
    return [
        term
        for key, term in work.terms.items()
        if (only is None or key in only) and key not in there
    ]

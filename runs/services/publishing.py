"""From a run's entries to the project's glossary."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from projects.access import Actor
from projects.exports.data import EntryData
from projects.services.glossary.publishing import Published, publish_entries
from projects.services.locking import lock_project
from projects.terms.keys import key_of
from runs.engine.reviewing.alone import DEFINED
from runs.models import Run
from runs.models.results import EntryOfRun
from runs.services.rows import PLAIN

# So many terms a sentence names.
NAMED = 5


def entries_of(run: Run) -> QuerySet[Any]:
    """What came of it: the refined entries, or the provisional ones where it did not get so far."""
    refined = run.refined.whole().order_by("order")
    return refined if refined.exists() else run.provisional.order_by("order")


def defined(entries: QuerySet[Any]) -> QuerySet[Any]:
    """Of these, those that say what their term is; the others show how it is used."""
    return entries.filter(supported=True, confidence__gte=DEFINED)


@transaction.atomic
def publish(
    run: Run, *, actor: Actor, terms: Collection[str] | None = None, defined_only: bool = False
) -> Published:
    """Copy its entries into the glossary; only those of these terms, in any spelling, if some are
    named, else only those with a definition, if that is wished for."""
    if run.is_active:
        raise Refusal(
            "run_active",
            _("This run is still under way. Publish when it has ended."),
            run_id=run.pk,
        )
    entries = entries_of(run)
    if defined_only and terms is None:
        entries = defined(entries)
    if not entries.exists():
        raise Refusal("nothing_to_publish", _("This run has no entries to publish."), run_id=run.pk)
    rows = list(entries) if terms is None else _chosen(entries, terms)
    # The project before the run, as everywhere.
    lock_project(run.project)
    Run.objects.filter(pk=run.pk).update(published_at=timezone.now())
    return publish_entries(
        project=run.project, entries=[data_of(row) for row in rows], run_id=run.pk, actor=actor
    )


def _chosen(entries: QuerySet[Any], terms: Collection[str]) -> list[Any]:
    """Whoever names a term that is not there means another run, or has misspelled it: nothing is
    published by halves."""
    wanted = {key_of(term): term for term in terms}
    chosen = list(entries.filter(key__in=list(wanted)))
    if not chosen:
        raise Refusal("unknown_terms", _("None of these terms is in this run."), status=400)
    known = {row.key for row in chosen}
    unknown = [term for key, term in wanted.items() if key not in known]
    if unknown:
        named = ", ".join(unknown[:NAMED]) + (", …" if len(unknown) > NAMED else "")
        raise Refusal(
            "unknown_terms",
            _("These terms are not in this run: %(terms)s.") % {"terms": named},
            status=400,
        )
    return chosen


def data_of(row: EntryOfRun) -> EntryData:
    return EntryData(
        **{name: getattr(row, name) for name in PLAIN},
        aliases=row.aliases,
        related=row.related,
        evidence=row.evidence,
    )

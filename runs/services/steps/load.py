"""Which documents the run is about, as they are now; and what it takes over from an earlier one."""

from typing import Any

from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from glossary_site.errors import Refusal
from runs.choices import Scope
from runs.models import ProvisionalEntry, RunDocument, RunIssue, RunTerm
from runs.services.asking import finishing
from runs.services.work import Work

CHUNK = 500


def load(work: Work) -> None:
    present = work.project.documents.order_by("path")
    documents = [
        RunDocument(run=work.run, document_id=pk, path=path, file_hash=file_hash, version=version)
        for pk, path, file_hash, version in present.values_list(
            "pk", "path", "file_hash", "version"
        )
    ]
    if not documents:
        raise Refusal("no_documents", _("Cannot run the pipeline without documents."))
    with finishing(work):
        RunDocument.objects.bulk_create(documents, batch_size=CHUNK)
        _inherit(work)
        work.step.total = len(documents)
        work.step.save(update_fields=["total"])
        read = ngettext("%(n)s document.", "%(n)s documents.", len(documents))
        work.progress(
            len(documents), len(documents), lines=[work.line(read % {"n": len(documents)})]
        )


def _inherit(work: Work) -> None:
    """A run that begins in the middle begins with copies, so that it can be told apart from its
    base, and stays whole when that is deleted."""
    base = work.run.base
    if base is None:
        return
    _copy(RunTerm, work, base.terms.all())
    if work.options.only is not None:
        _copy(ProvisionalEntry, work, base.provisional.exclude(key__in=work.options.only))
        return
    _copy(ProvisionalEntry, work, base.provisional.all())
    if work.run.scope == Scope.REFINE:
        _copy(RunIssue, work, base.issues.all())


def _copy(kind: type[Model], work: Work, rows: QuerySet[Any]) -> None:
    copies = list(rows)
    for row in copies:
        row.pk = None
        row.run = work.run
        row._state.adding = True
    kind._default_manager.bulk_create(copies, batch_size=CHUNK)

"""Which documents the run is about, as they are now; and what it takes over from an earlier one."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from glossary_site.errors import Refusal
from glossary_site.inserting import copy
from runs.choices import Scope
from runs.models import RunDocument
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
    copy(base.terms.all(), run_id=work.run.pk)
    if work.options.only is not None:
        copy(base.provisional.exclude(key__in=work.options.only), run_id=work.run.pk)
        return
    copy(base.provisional.all(), run_id=work.run.pk)
    if work.run.scope == Scope.REFINE:
        copy(base.issues.all(), run_id=work.run.pk)

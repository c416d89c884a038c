"""Keeping documents from being deleted while something is written that refers to them.

The database would look for them only at the commit, when everything else is locked already, the
feed included: whoever deletes them or uploads others just then would stand in our way, and we in
theirs. So the locks of those who write to the index are these, in this order: the project and the
documents (shared), what is indexed of them, requests, sections, the project's index, the feed.
"""

from collections.abc import Collection

from django.db import connection

from indexing.models import IndexedDocument

_HOLD_PROJECT = "SELECT 1 FROM projects_project WHERE id = %s FOR KEY SHARE"
_HOLD_DOCUMENTS = """
    SELECT id FROM projects_document WHERE id = ANY(%s) AND project_id = %s
    ORDER BY id FOR KEY SHARE
"""


def hold(project_id: int, document_ids: Collection[int]) -> None:
    """Until the end of the transaction. Those that are gone already are not an error here."""
    if connection.vendor == "sqlite":
        # Nobody else writes now.
        return
    with connection.cursor() as cursor:
        cursor.execute(_HOLD_PROJECT, [project_id])
        cursor.execute(_HOLD_DOCUMENTS, [list(document_ids), project_id])
    # One at a time changes the sections of a document, or their vectors.
    indexed = IndexedDocument.objects.select_for_update(of=("self",)).filter(pk__in=document_ids)
    list(indexed.order_by("pk").values_list("pk", flat=True))

"""Which documents a search looks at, when not at all of them."""

from django.db.models import Exists, F, OuterRef

from indexing.choices import Freshness
from indexing.models import IndexRequest
from indexing.paths import matching_paths
from indexing.search.options import SearchOptions
from projects.models import Document


def documents_for(options: SearchOptions) -> list[int] | None:
    """Their ids; None for all of the projects."""
    if not (options.include or options.exclude) and options.freshness is Freshness.ALL:
        return None
    documents = Document.objects.filter(project_id__in=options.project_ids)
    if options.freshness is not Freshness.ALL:
        coming = IndexRequest.objects.open().filter(document=OuterRef("pk"))
        documents = documents.filter(~Exists(coming), indexed__document_hash=F("file_hash"))
    rows = list(documents.values_list("pk", "path"))
    if options.include or options.exclude:
        paths = matching_paths(
            (path for _pk, path in rows), include=options.include, exclude=options.exclude
        )
        rows = [(pk, path) for pk, path in rows if path in paths]
    return [pk for pk, _path in rows]

from indexing.models.folders import FolderFile, FolderSource
from indexing.models.requests import IndexRequest
from indexing.models.sections import IndexedDocument, ProjectIndex, Section, SectionVector

__all__ = [
    "FolderFile",
    "FolderSource",
    "IndexRequest",
    "IndexedDocument",
    "ProjectIndex",
    "Section",
    "SectionVector",
]

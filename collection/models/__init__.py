from collection.models.commit import Branch, Commit
from collection.models.documents import CommitPath, RepositoryFile, VersionOrigin
from collection.models.repository import Repository
from collection.models.run import BulkCollectionResult, BulkCollectionRun
from collection.models.statistics import Author, AuthorAlias, SavedFilter

__all__ = [
    "Author",
    "AuthorAlias",
    "Branch",
    "BulkCollectionResult",
    "BulkCollectionRun",
    "Commit",
    "CommitPath",
    "Repository",
    "RepositoryFile",
    "SavedFilter",
    "VersionOrigin",
]

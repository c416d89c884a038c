"""Files at the head of a repository's document branch become documents of its project: the way is
told in `taking.py`."""

from collection.services.documents.losing import DocumentsWouldGo, Loss, loss_between
from collection.services.documents.taking import Taken, take_documents
from collection.services.documents.wishes import documents_key
from collection.services.documents.writing import ours_among

__all__ = [
    "DocumentsWouldGo",
    "Loss",
    "Taken",
    "documents_key",
    "loss_between",
    "ours_among",
    "take_documents",
]

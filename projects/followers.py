"""What apps above this one do whenever texts are written, in the same transaction.

A reader of `services/documents.py` sees the call; who is called is said by each app's AppConfig.
"""

from collections.abc import Callable, Sequence

from projects.models import Document, Project

Follower = Callable[[Project, Sequence[Document]], None]

FOLLOWERS: list[Follower] = []


def texts_written(project: Project, documents: Sequence[Document]) -> None:
    """Their rows are written, and the project's is locked."""
    for follow in FOLLOWERS:
        follow(project, documents)

"""What the activity of a project says of repositories and collections."""

import re

import pytest
from django.utils import timezone

from collection import repository_news
from glossary_site.live.models import Event
from projects.news import PROGRESS, news_of
from tests.collection.factories import make_repository

REPOSITORY = {"by": "ada", "name": "<app>"}


@pytest.mark.parametrize(
    ("type", "payload", "sentence"),
    [
        ("repository.added", REPOSITORY, "ada added the repository &lt;app&gt;."),
        ("repository.changed", REPOSITORY, "ada changed the repository &lt;app&gt;."),
        ("repository.removed", {"name": "app"}, "An operator removed the repository app."),
        (
            "collection.started",
            {"by": "ada", "targets": 1},
            "ada started a collection of 1 branch.",
        ),
        ("collection.completed", {}, "A collection is complete: nothing new."),
        (
            "collection.completed",
            {"new_commits": 12, "failed": 0},
            "A collection is complete: 12 new commits.",
        ),
        (
            "collection.completed",
            {"new_commits": 1, "failed": 2},
            "A collection is complete: 1 new commit; 2 branches failed.",
        ),
        ("collection.cancelled", {"by": "ada"}, "ada stopped a collection."),
        # Whatever an old event may have.
        ("collection.started", {"targets": "?"}, "An operator started a collection of 0 branches."),
    ],
    ids=[
        "added",
        "changed",
        "removed",
        "started",
        "nothing new",
        "commits",
        "failures",
        "stopped",
        "odd",
    ],
)
def test_sentences(type, payload, sentence):
    event = Event(type=type, payload=payload, number=1, created_at=timezone.now())
    assert re.sub("</?strong>", "", news_of(event).sentence) == sentence


@pytest.mark.django_db
def test_hints_are_no_news(project, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        repository_news.hint(make_repository(project))
        repository_news.hint(make_repository(None))
    hints = Event.objects.filter(type="repositories.changed")
    assert [event.stream.name for event in hints] == [project.stream]
    assert not hints.exclude(PROGRESS).exists()

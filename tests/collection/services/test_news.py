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
            "ada started a collection.",
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
        ("collection.completed", {"failed": "?"}, "A collection is complete: nothing new."),
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


def test_the_end_of_a_collection_leads_to_it():
    payload = {"new_commits": 2, "run_id": "7d7e0b5c-3c4e-4c51-a3a2-0d3f5f0f2b11"}
    event = Event(type="collection.completed", payload=payload, number=1)
    address = f"/projects/3/collection/{payload['run_id']}/"
    assert f'<a href="{address}">2 new commits</a>' in news_of(event, 3).sentence
    event.payload["run_id"] = "not one of ours"
    assert "<a" not in news_of(event, 3).sentence


@pytest.mark.django_db
def test_hints_are_no_news(project, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        repository_news.hint(make_repository(project))
        repository_news.hint(make_repository(None))
    hints = Event.objects.filter(type="repositories.changed")
    assert [event.stream.name for event in hints] == [project.stream]
    assert not hints.exclude(PROGRESS).exists()

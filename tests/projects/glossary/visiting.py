"""Asking for the pages of the glossary, and reading what stands on them."""

import re

from django.urls import reverse

from projects.models import GlossaryEntry
from projects.services.glossary import EntryData, publish_entries
from projects.terms.keys import key_of
from projects.terms.readings import reading_of

PART = {"HX-Request": "true"}


JAPANESE = re.compile("[\u3041-\u9fff]")


def data(term: str, definition: str = "A thing.", **more) -> EntryData:
    return EntryData(
        term=term,
        key=key_of(term),
        reading=reading_of(term),
        language="ja" if JAPANESE.search(term) else "en",
        definition=definition,
        **more,
    )


def publish(project, actor, *entries: EntryData) -> dict[str, GlossaryEntry]:
    publish_entries(project=project, entries=entries, run_id=7, actor=actor)
    return {entry.term: entry for entry in project.entries.all()}


def page(client, name: str, *args, **query) -> str:
    response = client.get(reverse(name, args=args), query)
    assert response.status_code == 200
    return response.content.decode()


def post(client, name: str, *args, **data) -> str:
    response = client.post(reverse(name, args=args), data, follow=True)
    assert response.status_code == 200
    return response.content.decode()

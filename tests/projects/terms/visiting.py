"""Asking for the pages of terms, and reading what stands on them."""

import re

from django.urls import reverse

from projects.models import Term
from projects.services.terms import Found, take_extraction
from projects.terms.keys import key_of
from projects.terms.readings import reading_of

PART = {"HX-Request": "true"}


def found(text: str, *, frequency: int = 1, score: float = 1.0, **more) -> Found:
    return Found(
        text=text,
        key=key_of(text),
        reading=reading_of(text),
        language="en",
        frequency=frequency,
        score=score,
        **{"document_count": 1, "variants": [text], **more},
    )


def extract(project, *terms: Found) -> dict[str, Term]:
    take_extraction(project=project, found=terms)
    return {term.text: term for term in project.terms.all()}


def page(client, name: str, *args, **query) -> str:
    response = client.get(reverse(name, args=args), query)
    assert response.status_code == 200
    return response.content.decode()


def send(client, project, query="", **data):
    response = client.post(reverse("project-terms", args=[project.pk]) + query, data, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def undo_token(html: str) -> str:
    button = re.search(r'name="undo" value="([^"]+)"', html)
    assert button
    return button[1]


def status_of(term: Term) -> str:
    return Term.objects.get(pk=term.pk).status

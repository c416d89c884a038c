"""Asking for the pages of repositories and collections, and reading what stands on them."""

import re
from typing import Any

from django.test import Client
from django.urls import reverse

HTMX = {"HX-Request": "true"}


def part(name: str) -> dict[str, str]:
    """As htmx asks for the piece with this id."""
    return {**HTMX, "HX-Target": name}


def words_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", html))


def visit(client: Client, name: str, /, *args: Any, headers: dict[str, str] | None = None, **query):
    response = client.get(reverse(name, args=args), query, headers=headers)
    assert response.status_code == 200
    return response


def send(client: Client, name: str, /, *args: Any, headers: dict[str, str] | None = None, **values):
    """The page that a person sees in the end."""
    return client.post(reverse(name, args=args), values, headers=headers, follow=True)

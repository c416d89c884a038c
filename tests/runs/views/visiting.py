"""Asking for the pages of runs, and reading what stands on them."""

import re

HTMX = {"HX-Request": "true"}
JAPANESE = {"Accept-Language": "ja"}


def words_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", html))


def run_page(client, run, *, headers=None, **query):
    response = client.get(run.get_absolute_url(), query, headers=headers)
    assert response.status_code == 200
    return response

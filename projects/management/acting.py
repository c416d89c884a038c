"""Whose rights in projects a command has."""

from glossary_site.management.acting import user_named
from projects.access import OPERATOR, Actor


def actor_named(username: str | None) -> Actor:
    return OPERATOR if username is None else user_named(username)

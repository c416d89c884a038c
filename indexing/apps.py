from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.migrations import Migration
from django.db.models.signals import post_migrate
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _

from indexing.lexical import schema


class IndexingConfig(AppConfig):
    """What it adds to the projects below it is in `additions.py`."""

    name = "indexing"
    verbose_name = _("Search index")

    def ready(self) -> None:
        autodiscover_modules("checks")  # those of every app
        post_migrate.connect(put_lexical_index_right, sender=self)


def put_lexical_index_right(
    *, using: str, plan: Sequence[tuple[Migration, bool]] = (), **kwargs: Any
) -> None:
    """A migration that makes the table of sections anew takes its triggers away on SQLite. (There
    is no plan when the database was only emptied.)"""
    if any(each.app_label == "indexing" and not backwards for each, backwards in plan):
        schema.ensure(connections[using])

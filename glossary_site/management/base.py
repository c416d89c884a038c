"""What the site's own commands have in common."""

from typing import Any

from django.core.management.base import BaseCommand
from django.db import DatabaseError

from glossary_site.processes.preparation import require_migrated


class SiteCommand(BaseCommand):
    # The web process runs into whatever these would find, and starting should be quick.
    requires_system_checks = []

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except DatabaseError:
            # Where there is no database, or one of an older site: a sentence, and no traceback.
            require_migrated()
            raise

"""A database to work in, also on a machine where the site was never started."""

import os

from django.core.management import CommandError
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils.translation import gettext as _

from glossary_site.processes.preparation import (
    migrate,
    prepare_data_directory,
    prepare_secret_key,
    require_migrated,
)


def prepare_database() -> None:
    """Set up what nobody has set up yet, as the first start of the site would. A database that is
    in use and of another version is left to whoever looks after it."""
    if not connection.in_atomic_block and _is_new():
        before = os.umask(0o077)
        try:
            directory = prepare_data_directory()
            prepare_secret_key(directory)
            migrate()
        finally:
            # What the command writes for people is theirs to share.
            os.umask(before)
        return
    require_migrated()


def _is_new() -> bool:
    if connection.vendor == "sqlite" and not os.path.exists(connection.settings_dict["NAME"]):
        return True
    try:
        return not MigrationRecorder(connection).applied_migrations()
    except DatabaseError as error:
        reason = str(error).strip().partition("\n")[0]
        raise CommandError(
            _("The database cannot be used: %(reason)s") % {"reason": reason}
        ) from error

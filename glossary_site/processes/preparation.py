"""What must be there before a process starts: the data directory, the secret key, the role.

Each step says in one sentence what is wrong, as a CommandError.
"""

import os
import sys
import tempfile
from pathlib import Path

from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.utils.translation import gettext as _

from glossary_site.env import SECRET_KEY_FILE, env


def prepare_data_directory() -> Path:
    """Make the data directory, for its owner only, and see that it can be written."""
    directory = Path(settings.DATA_DIR)
    # Whatever is made below it (the database, its log) is for its owner only, too.
    os.umask(0o077)
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise CommandError(
            _(
                "The data directory %(directory)s cannot be written (%(reason)s). "
                "Choose another with GLOSSARY_DATA_DIR."
            )
            % {"directory": directory, "reason": error.strerror}
        ) from error
    return directory


def prepare_secret_key(directory: Path) -> None:
    """Keep the key where every later process finds it. This one made it up when it started."""
    path = directory / SECRET_KEY_FILE
    if env.str("GLOSSARY_SECRET_KEY", "") or path.exists():
        return
    # Written beside its place and then linked there: nobody ever reads half a key, and of two who
    # write at once the first wins. A temporary file is readable by its owner only.
    descriptor, temporary = tempfile.mkstemp(prefix=SECRET_KEY_FILE, dir=directory)
    with os.fdopen(descriptor, "w") as file:
        file.write(settings.SECRET_KEY)
    try:
        os.link(temporary, path)
        ours = True
    except FileExistsError:
        ours = False
    finally:
        os.unlink(temporary)
    if not ours:
        start_over()


def start_over(**changes: str) -> None:
    """Begin this program anew, with changes to the environment: settings are read only once."""
    sys.stdout.flush()
    sys.stderr.flush()
    arguments = [sys.executable, *sys.orig_argv[1:]]
    os.execve(sys.executable, arguments, {**os.environ, **changes})  # noqa: S606


def migrate() -> None:
    """Bring the database up to date, quietly, and quickly when there is nothing to do."""
    try:
        if _pending_migrations():
            call_command("migrate", verbosity=0, interactive=False, skip_checks=True)
    except DatabaseError as error:
        raise _database_unusable(error) from error
    finally:
        connections.close_all()


def require_migrated() -> None:
    """For processes that leave the set-up to somebody else."""
    try:
        pending = _pending_migrations()
    except DatabaseError as error:
        if connection.vendor == "sqlite" and not Path(settings.DATA_DIR).exists():
            sentence = _("There is no site here yet: start it once with “manage.py serve”.")
            raise CommandError(sentence) from error
        raise _database_unusable(error) from error
    if pending:
        raise CommandError(_("The database is not up to date: run “manage.py migrate” first."))


def _pending_migrations() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def _database_unusable(error: Exception) -> CommandError:
    reason = str(error).strip().partition("\n")[0]
    return CommandError(_("The database cannot be used: %(reason)s") % {"reason": reason})

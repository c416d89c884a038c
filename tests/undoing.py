"""Several things in one test that must not see each other's traces."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction


@contextmanager
def undone() -> Iterator[None]:
    """What happens within is not in the database afterwards.

    A bare savepoint and no `atomic`: what asks to be the outermost transaction still finds that
    of the test alone around it, as in a test that does one thing.
    """
    savepoint = transaction.savepoint()
    try:
        yield
    finally:
        # Something went wrong on purpose within: a savepoint is what that can be taken back to.
        transaction.set_rollback(False)
        transaction.savepoint_rollback(savepoint)

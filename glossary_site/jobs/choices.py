"""The states of a run, and every move between them that may happen."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class State(models.TextChoices):
    PENDING = "PENDING", _("Waiting")
    ASSIGNED = "ASSIGNED", _("Assigned")
    RUNNING = "RUNNING", _("Running")
    ORPHANED = "ORPHANED", _("Waiting for another worker")
    SUCCEEDED = "SUCCEEDED", _("Succeeded")
    FAILED = "FAILED", _("Failed")
    TIMED_OUT = "TIMED_OUT", _("Timed out")
    CANCELED = "CANCELED", _("Cancelled")


# Nothing goes backwards: from any state, the ones that may follow it.
TRANSITIONS: dict[State, frozenset[State]] = {
    State.PENDING: frozenset({State.ASSIGNED, State.CANCELED}),
    State.ASSIGNED: frozenset({State.RUNNING, State.ORPHANED, State.CANCELED}),
    State.ORPHANED: frozenset({State.ASSIGNED, State.CANCELED}),
    State.RUNNING: frozenset({State.SUCCEEDED, State.FAILED, State.TIMED_OUT, State.CANCELED}),
    State.SUCCEEDED: frozenset(),
    State.FAILED: frozenset(),
    State.TIMED_OUT: frozenset(),
    State.CANCELED: frozenset(),
}
TERMINAL = tuple(state for state, following in TRANSITIONS.items() if not following)
ACTIVE = tuple(state for state, following in TRANSITIONS.items() if following)
# Nobody has them in hand: a worker may take them.
WAITING = (State.PENDING, State.ORPHANED)
# A worker has them in hand, under a lease.
HELD = (State.ASSIGNED, State.RUNNING)
# After these another attempt may follow.
UNSUCCESSFUL = (State.FAILED, State.TIMED_OUT)


class Continuation(models.TextChoices):
    """A running job whose worker was not heard of in time is asked for, before it is given up."""

    NONE = "NONE", _("None")
    CONFIRMING = "CONFIRMING", _("Confirming")


class Lane(models.TextChoices):
    """Short work never waits behind long work: each lane has worker processes of its own."""

    SHORT = "short", _("Short")
    LONG = "long", _("Long")


class Policy(models.TextChoices):
    """What happens when a definition is due while an earlier run of it is still active."""

    FORBID = "forbid", _("Skip the new one")
    ALLOW = "allow", _("Run both")
    REPLACE = "replace", _("Cancel the earlier one")


class WorkerRole(models.TextChoices):
    SHORT = Lane.SHORT.value, _("Short work")
    LONG = Lane.LONG.value, _("Long work")
    KEEPER = "keeper", _("Keeper")

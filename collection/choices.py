from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Kind(TextChoices):
    """How a repository is reached."""

    LOCAL = "local", _("Folder on this machine")
    GIT = "git", _("Git address")
    GITLAB = "gitlab", _("GitLab API")
    GITHUB = "github", _("GitHub API")


class State(TextChoices):
    """What was found when a repository was last asked."""

    NEW = "new", _("Not asked yet")
    READY = "ready", _("Ready")
    # There is something to collect, but not the whole history.
    SHALLOW = "shallow", _("Incomplete history")
    # It answers under another address; what it has is collected from there.
    MOVED = "moved", _("Moved")
    EMPTY = "empty", _("Empty")
    NOT_FOUND = "not_found", _("Not found")
    DENIED = "denied", _("Access denied")
    UNREACHABLE = "unreachable", _("Unreachable")
    # The address, or what it answers, is none that this site works with.
    REFUSED = "refused", _("Refused")


# Commits can be collected from these.
USABLE = (State.READY, State.SHALLOW, State.MOVED, State.EMPTY)


class BranchState(TextChoices):
    FOLLOWED = "followed", _("Followed")
    # It is there, and no name or pattern of the repository asks for it any more.
    LEFT_OUT = "left_out", _("Not followed")
    # It was deleted over there; what was collected of it stays.
    GONE = "gone", _("Deleted")


class RunStatus(TextChoices):
    """Of a bulk collection: running → completed, running → cancelled."""

    RUNNING = "running", _("Running")
    COMPLETED = "completed", _("Completed")
    CANCELLED = "cancelled", _("Cancelled")


class ResultStatus(TextChoices):
    """Of one target in it: pending → success, pending → failed."""

    PENDING = "pending", _("Pending")
    SUCCESS = "success", _("Success")
    FAILED = "failed", _("Failed")


# The name of a target whose branch is not known yet: the default one, whatever it is called.
DEFAULT_BRANCH = "HEAD"

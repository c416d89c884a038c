"""How pages show repositories and collections."""

from datetime import timedelta

from django import template
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from collection.choices import DEFAULT_BRANCH, BranchState, ResultStatus, RunStatus, State
from collection.models import Branch, BulkCollectionResult, BulkCollectionRun, Repository
from glossary_site.templatetags.site import badge

register = template.Library()

# Statistics begin here, unless somebody asks for more: a long history takes its time to count.
A_YEAR = timedelta(days=365)

# An icon and words beside the colour: each is enough to tell a state.
STATES = {
    State.NEW: ("", "clock"),
    State.READY: ("badge-ok", "check"),
    State.SHALLOW: ("badge-warn", "alert"),
    State.MOVED: ("badge-warn", "info"),
    State.EMPTY: ("", "info"),
    State.NOT_FOUND: ("badge-bad", "alert"),
    State.DENIED: ("badge-bad", "lock"),
    State.UNREACHABLE: ("badge-bad", "alert"),
    State.REFUSED: ("badge-bad", "ban"),
}
BRANCHES = {
    BranchState.FOLLOWED: ("badge-ok", "check"),
    BranchState.LEFT_OUT: ("", "close"),
    BranchState.GONE: ("badge-warn", "trash"),
}
RUNS = {
    RunStatus.RUNNING: ("badge-info", "activity"),
    RunStatus.COMPLETED: ("badge-ok", "check"),
    RunStatus.CANCELLED: ("", "close"),
}
RESULTS = {
    ResultStatus.PENDING: ("", "clock"),
    ResultStatus.SUCCESS: ("badge-ok", "check"),
    ResultStatus.FAILED: ("badge-bad", "alert"),
}
# Who asked for a collection where no person did.
DOORS = {
    "web": gettext_lazy("A page"),
    "api": gettext_lazy("The API"),
    "admin": gettext_lazy("The administration"),
    "command": gettext_lazy("A command"),
    "schedule": gettext_lazy("The schedule"),
}


@register.simple_tag
def repository_badge(repository: Repository) -> SafeString:
    return badge(*STATES[State(repository.state)], repository.get_state_display())


@register.simple_tag
def found_badge(state: str) -> SafeString:
    """Of a state that belongs to no row: what a test has found."""
    return badge(*STATES[State(state)], str(State(state).label))


@register.simple_tag
def branch_badge(branch: Branch) -> SafeString:
    return badge(*BRANCHES[BranchState(branch.state)], branch.get_state_display())


@register.simple_tag
def collection_badge(run: BulkCollectionRun, failed: int | None = None) -> SafeString:
    """`failed` where a reader sees a part of its targets only."""
    count = run.failed_count if failed is None else failed
    if run.status == RunStatus.COMPLETED and count:
        words = ngettext("Completed with %(n)d failure", "Completed with %(n)d failures", count)
        return badge("badge-warn", "alert", words % {"n": count})
    return badge(*RUNS[RunStatus(run.status)], run.get_status_display())


@register.simple_tag
def result_badge(result: BulkCollectionResult) -> SafeString:
    if result.status == ResultStatus.PENDING and result.in_hand_since is not None:
        return badge("badge-info", "activity", _("In hand"))
    if result.status == ResultStatus.PENDING and result.next_retry_at is not None:
        return badge("badge-warn", "clock", _("Waits for another try"))
    return badge(*RESULTS[ResultStatus(result.status)], result.get_status_display())


@register.filter
def branch_name(name: str) -> str:
    """A target that is called HEAD stands for a branch whose name is not known yet."""
    return _("default branch") if name == DEFAULT_BRANCH else name


@register.filter
def collected_in(run: BulkCollectionRun) -> timedelta:
    """How long it took, or has been going on."""
    return (run.completed_at or timezone.now()) - run.started_at


@register.filter
def door(run: BulkCollectionRun) -> str:
    return str(DOORS.get(run.triggered_by, run.triggered_by))


@register.filter
def short_sha(sha: str) -> str:
    return sha[:10]


@register.simple_tag
def a_year_ago() -> str:
    return (timezone.localdate() - A_YEAR).isoformat()

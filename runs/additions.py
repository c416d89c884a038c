"""What this app adds to the projects below it, which cannot ask it: imports point the other way."""

from django.db.models import Count, Max, OuterRef, Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from projects.glance import FACTS, Fact
from projects.news import SENTENCES, Payload, by, linked, say, strong
from projects.panels import PANELS, Panel
from projects.stopping import STOPPERS
from projects.work import TOLD_ELSEWHERE
from runs import news
from runs.choices import Scope, Step
from runs.models import Run, RunIssue, RunStep
from runs.services.ending import ADVANCE, stop_runs
from runs.views.pipeline import panel


def _issues() -> Combinable:
    """Of the newest run that has reviewed anything."""
    reviews = RunStep.objects.filter(
        run__project=OuterRef(OuterRef("pk")), step=Step.REVIEW, finished_at__isnull=False
    )
    newest = Subquery(reviews.order_by("-pk").values("run")[:1])
    issues = RunIssue.objects.filter(run=newest).order_by().values("run")
    return Coalesce(Subquery(issues.annotate(n=Count("pk")).values("n")), 0)


def _last_run() -> Combinable:
    runs = Run.objects.filter(project=OuterRef("pk")).order_by().values("project")
    return Subquery(runs.annotate(last=Max("created_at")).values("last"))


def _run(payload: Payload) -> SafeString:
    id = payload.get("run_id", "?")
    return linked(strong(_("Run %(id)s") % {"id": id}), "run", payload.get("project_id"), id)


def _scope(payload: Payload) -> str:
    scope = payload.get("scope", "")
    return str(Scope(scope).label) if scope in Scope.values else str(scope)


def _started(payload: Payload) -> SafeString:
    return say(
        _("%(by)s started a run: %(scope)s (%(run)s)."),
        by=by(payload),
        scope=_scope(payload),
        run=_run(payload),
    )


def _completed(payload: Payload) -> SafeString:
    failures = payload.get("failures", 0)
    if not isinstance(failures, int) or not failures:
        return say(_("%(run)s is complete."), run=_run(payload))
    words = ngettext(
        "%(run)s is complete, with %(n)s failure.",
        "%(run)s is complete, with %(n)s failures.",
        failures,
    )
    return say(words, run=_run(payload), n=failures)


def _cancelled(payload: Payload) -> SafeString:
    return say(_("%(by)s stopped %(run)s."), by=by(payload), run=_run(payload))


def _failed(payload: Payload) -> SafeString:
    error = payload.get("error", "")
    return say(
        _("%(run)s failed: %(error)s"),
        run=_run(payload),
        error=format_html('<span class="muted">{}</span>', str(error)),
    )


SENTENCES.update(
    {
        news.STARTED: ("play", _started),
        news.COMPLETED: ("check", _completed),
        news.CANCELLED: ("stop", _cancelled),
        news.FAILED: ("alert", _failed),
    }
)
FACTS.extend(
    [
        Fact("issues", gettext_lazy("Issues"), _issues),
        Fact("last_run", gettext_lazy("Last run"), _last_run, kind="time"),
    ]
)
PANELS.append(
    Panel("pipeline", panel, stylesheets=("runs.css",), scripts=("ticking.js",)),
)
# Runs have pages of their own.
TOLD_ELSEWHERE.add(ADVANCE)
# A project that is deleted has no use for them.
STOPPERS.append(stop_runs)

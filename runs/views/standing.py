"""Where a project stands: each stage on the way from its documents to its glossary, with what is
there and whether something before it has changed since."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, Max, OuterRef
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, npgettext, pgettext

from projects.models import Document, Project
from runs.choices import Scope, Step
from runs.models import ProvisionalEntry, RefinedEntry, Run, RunDocument, RunIssue, RunStep


@dataclass(frozen=True)
class Stage:
    key: str
    label: str
    icon: str
    count: int
    url: str
    # When it was made; None where it has not been, or where that says nothing.
    made_at: datetime | None = None
    # Beside the count: what of it, in words.
    note: str = ""
    # What to say where there is no time to tell.
    otherwise: str = ""
    # What has happened before it since; empty where it is up to date.
    stale: str = ""
    # The single step that makes it, for the small button.
    scope: Scope | None = None
    action: str = ""

    @property
    def state(self) -> str:
        if self.stale:
            return "stale"
        return "done" if self.count or self.made_at else "empty"


@dataclass(frozen=True)
class Standing:
    stages: list[Stage]
    # The run whose entries would be published; None where there is none, or it is published.
    unpublished: Run | None


def standing_of(project: Project) -> Standing:
    done = _newest_steps(project)
    terms_run, entries_run = _run(done, Step.EXTRACT), _run(done, Step.GENERATE)
    review_run, refined_run = _run(done, Step.REVIEW), _run(done, Step.REFINE)
    newer_entries = bool(review_run) and entries_run > review_run
    newer_review = bool(refined_run) and review_run > refined_run
    entries = ProvisionalEntry.objects.filter(run=entries_run).count()
    refined = RefinedEntry.objects.filter(run=refined_run).count()
    issues = RunIssue.objects.filter(run=review_run).count()
    published, unpublished = _published(
        project, refined_run if refined else entries_run if entries else 0
    )
    last_read = max((step.run_id for step in done.values()), default=0)
    documents = _documents(project, last_read)
    # A run that was stopped has read documents, and found no terms in them.
    unread = documents.stale if terms_run == last_read else _changed_since(project, terms_run)
    stages = [
        documents,
        Stage(
            key="terms",
            label=_("Terms"),
            icon="list",
            count=project.terms.in_glossary().count(),
            otherwise=pgettext("stage", "not yet"),
            url=reverse("project-terms", args=[project.pk]),
            made_at=_made_at(done, Step.EXTRACT),
            stale=_("documents changed since") if terms_run and unread else "",
            scope=Scope.EXTRACT,
            action=_("Find terms"),
        ),
        Stage(
            key="definitions",
            label=pgettext("glossary", "Definitions"),
            icon="edit",
            count=entries,
            otherwise=pgettext("stage", "not yet"),
            url=_table(project, entries_run, "provisional"),
            made_at=_made_at(done, Step.GENERATE),
            stale=_terms_since(project, done) if entries_run else "",
            scope=Scope.GENERATE,
            action=_("Write definitions"),
        ),
        Stage(
            key="review",
            label=_("Review"),
            icon="search",
            count=issues,
            url=_table(project, review_run, "issues"),
            made_at=_made_at(done, Step.REVIEW),
            note=npgettext("stage", "issue", "issues", issues),
            otherwise=pgettext("stage", "not yet"),
            stale=_("definitions written since") if newer_entries else "",
            scope=Scope.REVIEW,
            action=_("Review"),
        ),
        Stage(
            key="refined",
            label=_("Refined"),
            icon="check",
            count=refined,
            otherwise=pgettext("stage", "not yet"),
            url=_table(project, refined_run, "refined"),
            made_at=_made_at(done, Step.REFINE),
            stale=_("reviewed again since") if newer_review else "",
            scope=Scope.REFINE,
            action=_("Refine"),
        ),
        published,
    ]
    return Standing(stages, unpublished)


def _newest_steps(project: Project) -> dict[str, RunStep]:
    """Of each step the newest run that has done it."""
    steps = RunStep.objects.filter(run__project=project, finished_at__isnull=False)
    newest = steps.order_by().values("step").annotate(newest=Max("pk")).values("newest")
    return {step.step: step for step in RunStep.objects.filter(pk__in=newest)}


def _run(done: dict[str, RunStep], step: Step) -> int:
    return done[step].run_id if step in done else 0


def _made_at(done: dict[str, RunStep], step: Step) -> datetime | None:
    return done[step].finished_at if step in done else None


def _table(project: Project, run_id: int, tab: str) -> str:
    return f"{reverse('run', args=[project.pk, run_id])}?tab={tab}" if run_id else ""


def _documents(project: Project, run_id: int) -> Stage:
    count = Document.objects.filter(project=project).count()
    return Stage(
        key="documents",
        label=_("Documents"),
        icon="file",
        count=count,
        url=reverse("document-list", args=[project.pk]),
        stale=_changed_since(project, run_id) if run_id else "",
        otherwise=_otherwise(count, run_id),
    )


def _otherwise(count: int, run_id: int) -> str:
    if not count:
        return _("none yet")
    return _("as the last run read them") if run_id else _("no run has read them yet")


def _changed_since(project: Project, run_id: int) -> str:
    """How many documents are not as this run read them: new, changed, or gone."""
    documents = Document.objects.filter(project=project)
    read = RunDocument.objects.filter(run=run_id)
    same = read.filter(document_id=OuterRef("pk"), file_hash=OuterRef("file_hash"))
    there = documents.filter(pk=OuterRef("document_id"))
    changed = documents.exclude(Exists(same)).count() + read.exclude(Exists(there)).count()
    words = ngettext(
        "%(n)d changed since the last run", "%(n)d changed since the last run", changed
    )
    return words % {"n": changed} if changed else ""


def _terms_since(project: Project, done: dict[str, RunStep]) -> str:
    """What has become of the terms since their definitions were written."""
    written = done[Step.GENERATE]
    if _run(done, Step.EXTRACT) > written.run_id:
        return _("terms found anew since")
    changed = project.terms.filter(updated_at__gt=written.started_at)
    return _("terms changed since") if changed.exists() else ""


def _published(project: Project, newest: int) -> tuple[Stage, Run | None]:
    """The glossary, and the run with entries if nobody has published it yet."""
    runs = Run.objects.filter(project=project)
    unpublished = runs.unpublished().ended().filter(pk=newest).first()
    count = project.entries.count()
    last = runs.published().aggregate(at=Max("published_at"))["at"]
    stage = Stage(
        key="published",
        label=_("Published"),
        icon="book",
        count=count,
        otherwise=_("written by hand") if count else _("nothing yet"),
        url=reverse("project-glossary", args=[project.pk]),
        made_at=last if count else None,
        stale=_("run %(id)d is not published") % {"id": unpublished.pk} if unpublished else "",
    )
    return stage, unpublished

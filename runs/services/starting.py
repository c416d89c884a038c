"""The one door for new runs."""

from dataclasses import replace

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.llm.providers import overridden, provider_for
from projects.access import Actor, author_of, name_of
from projects.models import Project
from runs import news
from runs.choices import STEPS, Scope, Step
from runs.models import ProvisionalEntry, Run, RunStep
from runs.services.ending import ADVANCE
from runs.services.options import RunOptions


def start(
    *,
    project: Project,
    scope: str,
    actor: Actor,
    triggered_by: str = "api",
    options: RunOptions | None = None,
    base: Run | None = None,
) -> Run:
    """Make a run and have a worker begin with it, both or neither. However many ask at once, one
    run of a project is under way: the constraint decides."""
    if scope not in Scope.values:
        raise Refusal(
            "unknown_scope",
            _("There is no scope “%(scope)s”. Choose one of: %(all)s.")
            % {"scope": scope, "all": ", ".join(Scope.values)},
            status=400,
        )
    options = replace(options or RunOptions(), own_provider=overridden())
    scope = Scope(scope)
    if options.limit and not {Step.EXTRACT, Step.GENERATE} & set(STEPS[scope]):
        raise Refusal(
            "limit_without_terms",
            _("A limit goes with a scope that finds or defines terms, not with “%(scope)s”.")
            % {"scope": scope},
            status=400,
        )
    base = base or base_for(project, scope)
    missing = what_is_missing(project, scope, base=base)
    active = active_run(project)
    if active is None and missing is not None:
        raise missing
    config = provider_for(project.stream)
    try:
        with transaction.atomic():
            run = Run.objects.create(
                project=project,
                scope=scope,
                base=base,
                options=options.to_json(),
                triggered_by=triggered_by,
                actor=author_of(actor),
                provider=config.kind,
                model=config.model,
                current_step=STEPS[scope][0],
            )
            RunStep.objects.bulk_create(
                RunStep(run=run, step=step, order=order) for order, step in enumerate(STEPS[scope])
            )
            run.job = enqueue(ADVANCE, {"run_id": run.pk}, scope=project.stream)
            run.save(update_fields=["job"])
            news.happened(run, news.STARTED, by=name_of(actor))
    except IntegrityError as error:
        active = active_run(project)
        if active is None:
            # It has ended in this moment; or the error is another one.
            if not Project.objects.filter(pk=project.pk).exists():
                raise Refusal(
                    "project_gone", _("The project was deleted meanwhile."), status=404
                ) from error
            raise
        raise Refusal(
            "run_already_active",
            _("A run is under way already: #%(id)s. Wait for it, or stop it.") % {"id": active.pk},
            run_id=active.pk,
        ) from error
    return run


def active_run(project: Project) -> Run | None:
    return Run.objects.filter(project=project).active().first()


def base_for(project: Project, scope: Scope) -> Run | None:
    """The newest run whose results this one begins with, where it needs any."""
    if scope not in (Scope.PROVISIONAL_TO_REFINED, Scope.REVIEW, Scope.REFINE):
        return None
    # Not a join: a run has thousands of entries, and one of them is enough.
    written = Exists(ProvisionalEntry.objects.filter(run=OuterRef("pk")))
    stump = Exists(
        RunStep.objects.filter(run=OuterRef("pk"), step=Step.GENERATE, finished_at__isnull=True)
    )
    runs = Run.objects.filter(written, ~stump, project=project).ended().newest_first()
    if scope == Scope.REFINE:
        runs = runs.filter(steps__step=Step.REVIEW, steps__finished_at__isnull=False)
    return runs.first()


def what_is_missing(project: Project, scope: Scope, *, base: Run | None = None) -> Refusal | None:
    """Why a run of this scope could not do anything, if so, with what to do first."""
    if not project.documents.exists():
        return Refusal(
            "no_documents",
            _("Cannot run the pipeline without documents. Add documents to the project first."),
        )
    if scope in (Scope.FROM_TERMS, Scope.GENERATE) and not project.terms.in_glossary().exists():
        return Refusal(
            "no_terms", _("There are no terms yet. Find terms first, or add some by hand.")
        )
    if scope in (Scope.PROVISIONAL_TO_REFINED, Scope.REVIEW) and base is None:
        return Refusal(
            "no_provisional", _("There are no provisional entries yet. Write definitions first.")
        )
    if scope == Scope.REFINE and base is None:
        return Refusal("no_review", _("Nothing has been reviewed yet. Review the entries first."))
    return None

"""Trying again what a run had no result for, and going on from one that ended early."""

from collections.abc import Iterable
from dataclasses import replace

from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from projects.access import Actor
from runs.choices import STEPS, Scope, Step
from runs.models import Run
from runs.services.options import RunOptions
from runs.services.starting import start


def retry_failures(run: Run, *, actor: Actor, triggered_by: str = "api") -> Run:
    """A new run that takes everything over from this one but the terms that failed. What was
    answered already is not asked again, unless the answer was no use."""
    _check_ended(run)
    failed = set(run.failures.values_list("step", flat=True))
    if not failed:
        raise Refusal("nothing_to_retry", _("Nothing failed in this run."))
    if Step.GENERATE in failed and run.provisional.exists():
        keys = set(run.failures.filter(step=Step.GENERATE).values_list("key", flat=True))
        return _define(run, keys | _unwritten(run), actor=actor, triggered_by=triggered_by)
    return _follow(run, failed, actor=actor, triggered_by=triggered_by)


def resume(run: Run, *, actor: Actor, triggered_by: str = "api") -> Run:
    """A new run that does the rest of one that was stopped or failed. Answers that were paid for
    are in the ledger, and not paid for again."""
    _check_ended(run)
    left = set(run.steps.filter(finished_at__isnull=True).values_list("step", flat=True))
    if not left:
        raise Refusal("nothing_to_resume", _("This run did everything it was asked to do."))
    undefined = Step.GENERATE in left or run.failures.filter(step=Step.GENERATE).exists()
    if Step.EXTRACT not in left and undefined and run.provisional.exists():
        return _define(run, _unwritten(run), actor=actor, triggered_by=triggered_by)
    return _follow(run, left, actor=actor, triggered_by=triggered_by)


def _unwritten(run: Run) -> set[str]:
    """Terms that failed, and those that were never come to: a run that goes on has them all."""
    keys = set(run.terms.filter(excluded_because="").values_list("key", flat=True))
    return keys - set(run.provisional.values_list("key", flat=True))


def _define(run: Run, keys: Iterable[str], *, actor: Actor, triggered_by: str) -> Run:
    """New definitions for these terms; the entries of all others are taken over."""
    scope = Scope.GENERATE if run.scope == Scope.GENERATE else Scope.FROM_TERMS
    options = replace(RunOptions.from_json(run.options), only=tuple(sorted(keys)))
    return start(
        project=run.project,
        scope=scope,
        actor=actor,
        triggered_by=triggered_by,
        options=options,
        base=run,
    )


def _follow(run: Run, steps: set[str], *, actor: Actor, triggered_by: str) -> Run:
    """These steps once more: after the run where it has entries to begin with, else as it was."""
    scope, base = Scope(run.scope), run.base
    options = RunOptions.from_json(run.options)
    if Step.GENERATE not in steps and Step.EXTRACT not in steps and run.provisional.exists():
        base, options = run, replace(options, only=None, limit=0)
        if Step.REVIEW not in steps:
            scope = Scope.REFINE
        elif Step.REFINE in STEPS[scope]:
            scope = Scope.PROVISIONAL_TO_REFINED
        else:
            scope = Scope.REVIEW
    return start(
        project=run.project,
        scope=scope,
        actor=actor,
        triggered_by=triggered_by,
        options=options,
        base=base,
    )


def _check_ended(run: Run) -> None:
    if run.is_active:
        raise Refusal(
            "run_already_active",
            _("This run is still under way: #%(id)s. Wait for it, or stop it.") % {"id": run.pk},
            run_id=run.pk,
        )

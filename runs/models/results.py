"""What a run has made, a table a step. Runs share nothing, so that they can be compared."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from projects.choices import Language
from projects.models.terms import TERM_LENGTH
from runs.choices import IssueKind, Step
from runs.models.run import ERROR_LENGTH, Run
from runs.querysets import RefinedQuerySet


class RunTerm(models.Model):
    """A term that the run wrote an entry for, or only found, as it was known then."""

    run = models.ForeignKey(
        Run,
        on_delete=models.CASCADE,
        related_name="terms",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("run"),
    )
    text = models.CharField(_("term"), max_length=TERM_LENGTH)
    key = models.CharField(_("key"), max_length=TERM_LENGTH)
    reading = models.CharField(_("reading"), max_length=TERM_LENGTH, blank=True)
    language = models.CharField(_("language"), max_length=2, choices=Language)
    category = models.CharField(_("category"), max_length=40, blank=True)
    # Its place, best first.
    order = models.PositiveIntegerField(_("order"))
    score = models.FloatField(_("score"), default=0.0)
    frequency = models.PositiveIntegerField(_("frequency"), default=0)
    document_count = models.PositiveIntegerField(_("documents"), default=0)
    variants = models.JSONField(_("spellings"), default=list, blank=True)
    # [[document id, line, count], …]
    occurrences = models.JSONField(_("occurrences"), default=list, blank=True)
    synonyms = models.JSONField(_("synonyms"), default=list, blank=True)
    note = models.TextField(_("notes"), blank=True)
    # Why it was left out; empty where it was not.
    excluded_because = models.CharField(_("left out because"), max_length=300, blank=True)

    class Meta:
        verbose_name = _("term of a run")
        verbose_name_plural = _("terms of runs")
        ordering = ("run", "order")
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="runterm_once")]

    def __str__(self) -> str:
        return self.text


class EntryOfRun(models.Model):
    """A term with its definition, before anybody has published it."""

    term = models.CharField(_("term"), max_length=TERM_LENGTH)
    key = models.CharField(_("key"), max_length=TERM_LENGTH)
    reading = models.CharField(_("reading"), max_length=TERM_LENGTH, blank=True)
    language = models.CharField(_("language"), max_length=2, choices=Language)
    order = models.PositiveIntegerField(_("order"))
    definition = models.TextField(_("definition"))
    confidence = models.FloatField(_("confidence"))
    category = models.CharField(_("category"), max_length=40, blank=True)
    aliases = models.JSONField(_("aliases"), default=list, blank=True)
    related = models.JSONField(_("related terms"), default=list, blank=True)
    # As in a published entry.
    evidence = models.JSONField(_("evidence"), default=list, blank=True)
    supported = models.BooleanField(_("supported"), default=True)
    needs_review = models.BooleanField(_("needs review"), default=False)
    score = models.FloatField(_("score"), default=0.0)
    frequency = models.PositiveIntegerField(_("occurrences"), default=0)
    prompt_version = models.CharField(_("prompt version"), max_length=40, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.term


def entry_constraints(name: str) -> list[models.BaseConstraint]:
    return [
        models.UniqueConstraint(fields=["run", "key"], name=f"{name}_once"),
        models.CheckConstraint(
            condition=Q(confidence__gte=0, confidence__lte=1), name=f"{name}_confidence_share"
        ),
    ]


class ProvisionalEntry(EntryOfRun):
    """As it was first written."""

    run = models.ForeignKey(
        Run,
        on_delete=models.CASCADE,
        related_name="provisional",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("run"),
    )

    class Meta:
        verbose_name = _("provisional entry")
        verbose_name_plural = _("provisional entries")
        ordering = ("run", "order")
        constraints = entry_constraints("provisional")


class RefinedEntry(EntryOfRun):
    """After the review."""

    run = models.ForeignKey(
        Run,
        on_delete=models.CASCADE,
        related_name="refined",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("run"),
    )
    # Nothing was wrong with it (or nothing could be done): it is the provisional one.
    copied = models.BooleanField(_("copied"), default=False)

    objects = RefinedQuerySet.as_manager()

    class Meta:
        verbose_name = _("refined entry")
        verbose_name_plural = _("refined entries")
        ordering = ("run", "order")
        constraints = entry_constraints("refined")


class RunIssue(models.Model):
    """What the review found wrong with an entry."""

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="issues", verbose_name=_("run")
    )
    order = models.PositiveIntegerField(_("order"))
    term = models.CharField(_("term"), max_length=TERM_LENGTH)
    key = models.CharField(_("key"), max_length=TERM_LENGTH)
    kind = models.CharField(_("kind"), max_length=16, choices=IssueKind)
    description = models.TextField(_("description"))
    suggestion = models.TextField(_("suggestion"), blank=True)
    # The other entry of a contradiction, a duplicate or a missing relation.
    other_key = models.CharField(_("other term"), max_length=TERM_LENGTH, blank=True)
    # Suggests to leave the term out of the glossary.
    exclude = models.BooleanField(_("leave out"), default=False)

    class Meta:
        verbose_name = _("issue")
        verbose_name_plural = _("issues")
        ordering = ("run", "order", "pk")
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=IssueKind.values), name="runissue_kind_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.term}: {self.get_kind_display()}"


class RunFailure(models.Model):
    """A term, or a batch of terms, that a step had no result for. It does not fail the run."""

    run = models.ForeignKey(
        Run,
        on_delete=models.CASCADE,
        related_name="failures",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("run"),
    )
    step = models.CharField(_("step"), max_length=8, choices=Step)
    key = models.CharField(_("key"), max_length=TERM_LENGTH)
    term = models.CharField(_("term"), max_length=TERM_LENGTH)
    error = models.CharField(_("error"), max_length=ERROR_LENGTH)
    created_at = models.DateTimeField(_("time"), auto_now_add=True)

    class Meta:
        verbose_name = _("failure of a run")
        verbose_name_plural = _("failures of runs")
        ordering = ("run", "pk")
        constraints = [
            models.UniqueConstraint(fields=["run", "step", "key"], name="runfailure_once"),
        ]

    def __str__(self) -> str:
        return f"{self.term}: {self.error}"

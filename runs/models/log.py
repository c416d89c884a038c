from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models.terms import TERM_LENGTH
from runs.choices import Level
from runs.models.run import Run


class RunLog(models.Model):
    """A line of a run's log, which people and programs read from the beginning or live."""

    run = models.ForeignKey(
        Run,
        on_delete=models.CASCADE,
        related_name="log",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("run"),
    )
    number = models.PositiveIntegerField(_("number"))
    level = models.CharField(_("level"), max_length=7, choices=Level, default=Level.INFO)
    message = models.TextField(_("message"))
    step = models.CharField(_("step"), max_length=8, blank=True)
    progress_current = models.PositiveIntegerField(_("done"), null=True, blank=True)
    progress_total = models.PositiveIntegerField(_("of"), null=True, blank=True)
    current_term = models.CharField(_("current term"), max_length=TERM_LENGTH, blank=True)
    # For operators only: it names files of the server.
    traceback = models.TextField(_("traceback"), blank=True)
    created_at = models.DateTimeField(_("time"), auto_now_add=True)

    class Meta:
        verbose_name = _("line of a run's log")
        verbose_name_plural = _("log of runs")
        ordering = ("run", "number")
        constraints = [
            # Also the index for reading on from a number.
            models.UniqueConstraint(fields=["run", "number"], name="runlog_number_once"),
        ]

    def __str__(self) -> str:
        return self.message

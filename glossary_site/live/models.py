from django.db import models
from django.utils.translation import gettext_lazy as _


class Stream(models.Model):
    """One numbered feed, such as `project:7`. Its row is the lock for numbering."""

    name = models.CharField(_("name"), max_length=64, unique=True)
    last_number = models.BigIntegerField(_("last number"), default=0)
    # Events up to this number were removed by age; a reader who stopped earlier starts afresh.
    pruned_number = models.BigIntegerField(_("removed up to"), default=0)

    class Meta:
        verbose_name = _("stream")
        verbose_name_plural = _("streams")

    def __str__(self) -> str:
        return self.name


class Event(models.Model):
    """Something that happened, kept so that a late or reconnecting reader misses nothing."""

    stream = models.ForeignKey(
        Stream,
        on_delete=models.CASCADE,
        related_name="events",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("stream"),
    )
    number = models.BigIntegerField(_("number"))
    type = models.CharField(_("type"), max_length=64)
    payload = models.JSONField(_("payload"), default=dict)
    created_at = models.DateTimeField(_("time"), auto_now_add=True)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        ordering = ("stream", "number")
        constraints = [
            # Also the index for "events of a stream after a number", the tailer's only question.
            models.UniqueConstraint(fields=["stream", "number"], name="live_event_numbered_once"),
        ]
        indexes = [
            # Retention: "events older than a day".
            models.Index(fields=["created_at"], name="live_event_age"),
        ]

    def __str__(self) -> str:
        return f"{self.stream_id}#{self.number} {self.type}"

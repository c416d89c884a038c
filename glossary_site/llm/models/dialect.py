from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from glossary_site.llm.choices import JsonMode
from glossary_site.llm.models.provider import MODEL_LENGTH, URL_LENGTH


class Dialect(models.Model):
    """What a server turned out not to understand, so that it is not asked for it every time."""

    base_url = models.CharField(_("base URL"), max_length=URL_LENGTH)
    model = models.CharField(_("model"), max_length=MODEL_LENGTH)
    json_mode = models.CharField(
        _("structured answers"), max_length=10, choices=JsonMode, default=JsonMode.SCHEMA
    )
    # Newer models of OpenAI know the limit by another name, and no temperature.
    newer_limit = models.BooleanField(_("newer name of the token limit"), default=False)
    no_temperature = models.BooleanField(_("takes no temperature"), default=False)
    no_batches = models.BooleanField(_("has no batches"), default=False)
    # Servers learn: after a while it is tried again.
    learned_at = models.DateTimeField(_("learned"), default=timezone.now)

    class Meta:
        verbose_name = _("dialect")
        verbose_name_plural = _("dialects")
        ordering = ("base_url", "model")
        constraints = [
            models.UniqueConstraint(fields=["base_url", "model"], name="llm_dialect_once"),
        ]

    def __str__(self) -> str:
        return f"{self.base_url} · {self.model}"

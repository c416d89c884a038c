from django.db import models
from django.utils.translation import gettext_lazy as _

from projects.models import Document


class DocumentTerms(models.Model):
    """What the extraction has read in a document, kept so that only changed ones are read again."""

    document = models.OneToOneField(
        Document,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="terms_read",
        verbose_name=_("document"),
    )
    # Of which text, and by which version of the analysis.
    file_hash = models.CharField(_("SHA-256"), max_length=64)
    version = models.PositiveIntegerField(_("version of the analysis"))
    # Compressed JSON.
    data = models.BinaryField(_("analysis"))

    class Meta:
        verbose_name = _("terms read in a document")
        verbose_name_plural = _("terms read in documents")

    def __str__(self) -> str:
        return str(self.document_id)

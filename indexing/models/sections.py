from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from indexing.querysets import SectionQuerySet
from projects.models import Document, Project

EMBEDDER_LENGTH = 200


class ProjectIndex(models.Model):
    """The index of a project as a whole: how often it changed, and whose vectors serve."""

    project = models.OneToOneField(
        Project, on_delete=models.CASCADE, primary_key=True, related_name="index"
    )
    # One more with each change, numbered under this row's lock: who has read up to a number has
    # read everything before it.
    generation = models.PositiveBigIntegerField(_("generation"), default=0)
    # What an owner chose; empty: as the site is set.
    chosen_embedder = models.CharField(_("embedder"), max_length=20, blank=True)
    # The key of the embedder whose vectors searches use. Another one is being filled while the
    # one that is wanted has another key.
    serving_embedder = models.CharField(
        _("serving embedder"), max_length=EMBEDDER_LENGTH, blank=True
    )

    class Meta:
        verbose_name = _("project index")
        verbose_name_plural = _("project indexes")

    def __str__(self) -> str:
        return f"{self.project_id} g{self.generation}"


class IndexedDocument(models.Model):
    """The text of a document that its sections stand for. Changed with them, in one transaction."""

    document = models.OneToOneField(
        Document, on_delete=models.CASCADE, primary_key=True, related_name="indexed"
    )
    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,  # indexed_generation begins with it
        verbose_name=_("project"),
    )
    document_hash = models.CharField(_("SHA-256"), max_length=64)
    document_version = models.PositiveIntegerField(_("version"))
    section_count = models.PositiveIntegerField(_("sections"))
    token_count = models.PositiveIntegerField(_("tokens"))
    # That of the project, at the change.
    generation = models.PositiveBigIntegerField(_("generation"))
    indexed_at = models.DateTimeField(_("indexed at"))

    class Meta:
        verbose_name = _("indexed document")
        verbose_name_plural = _("indexed documents")
        indexes = [
            # "What changed since I last looked", asked before each search with vectors.
            models.Index("project", "generation", name="indexed_generation"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} v{self.document_version}"


class Section(models.Model):
    """A piece of a document under one heading. Never changed: replaced with all of its document's.

    A section holds its own text, not that of the sections below it; a long one is in parts.
    """

    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        related_name="+",
        db_index=False,  # section_of_project begins with it
        verbose_name=_("project"),
    )
    document = models.ForeignKey(
        Document,
        on_delete=models.CASCADE,
        related_name="sections",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("document"),
    )
    # Never deleted but together with its children, so nothing needs to be done to them. Nor has the
    # database anything to watch over: without an index on it, it would read the whole table for
    # each section that goes.
    parent = models.ForeignKey(
        "self",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,  # read with all of a document
        verbose_name=_("parent"),
    )
    order = models.PositiveIntegerField(_("order"))
    # 0: the text before the first heading; 1 to 6 as in <h1> to <h6>.
    depth = models.PositiveSmallIntegerField(_("depth"))
    # "2.1": counted by position among its siblings; empty at depth 0.
    number = models.CharField(_("number"), max_length=100, blank=True)
    # Of a section over the token limit: 0, 1, …; each a row of its own, all of one heading.
    part = models.PositiveIntegerField(_("part"), default=0)
    heading = models.TextField(_("heading"), blank=True)
    # From the outermost heading to its own.
    heading_path = models.JSONField(_("heading path"), default=list)
    # Counted from 1; the last one included.
    line_start = models.PositiveIntegerField(_("first line"))
    line_end = models.PositiveIntegerField(_("last line"))
    content = models.TextField(_("text"))
    token_count = models.PositiveIntegerField(_("tokens"))
    document_hash = models.CharField(_("SHA-256"), max_length=64)
    # Of all that its words and its vector are made from: the same hash, the same words and vector.
    text_hash = models.CharField(_("hash of the text"), max_length=64)
    # The words of its headings and of its text, as the search sees them, with a space between.
    # The lexical index is kept in step with these two by triggers (lexical/schema.py).
    heading_words = models.TextField(blank=True)
    words = models.TextField(blank=True)
    created_at = models.DateTimeField(_("created at"))

    objects = SectionQuerySet.as_manager()

    class Meta:
        verbose_name = _("section")
        verbose_name_plural = _("sections")
        ordering = ("document", "order")
        constraints = [
            # Also the index for "the sections of a document", and of one of its versions.
            models.UniqueConstraint(fields=["document", "order"], name="section_order_once"),
            models.CheckConstraint(condition=Q(depth__lte=6), name="section_depth_of_headings"),
            models.CheckConstraint(
                condition=Q(line_start__gte=1, line_end__gte=F("line_start")),
                name="section_lines_in_order",
            ),
        ]
        indexes = [
            # "The sections of a project", for the vectors and for counts.
            models.Index("project", "document", name="section_of_project"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} §{self.number or self.order}"


class SectionVector(models.Model):
    """What an embedder makes of a section: unit vector, 16-bit floats, little end first."""

    section = models.ForeignKey(
        Section,
        on_delete=models.CASCADE,
        related_name="vectors",
        db_index=False,  # the unique constraint begins with it
        verbose_name=_("section"),
    )
    embedder = models.CharField(_("embedder"), max_length=EMBEDDER_LENGTH)
    vector = models.BinaryField(_("vector"))

    class Meta:
        verbose_name = _("section vector")
        verbose_name_plural = _("section vectors")
        constraints = [
            models.UniqueConstraint(fields=["section", "embedder"], name="vector_once"),
        ]

    def __str__(self) -> str:
        return f"{self.section_id} {self.embedder}"

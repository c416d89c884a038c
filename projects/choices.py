from enum import StrEnum

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Role(TextChoices):
    """What a member may do in a project; each role includes the ones before it."""

    VIEWER = "viewer", _("Viewer")
    EDITOR = "editor", _("Editor")
    OWNER = "owner", _("Owner")


# From least to most.
ROLE_ORDER = (Role.VIEWER, Role.EDITOR, Role.OWNER)


class Language(TextChoices):
    JAPANESE = "ja", _("Japanese")
    ENGLISH = "en", _("English")


class Source(TextChoices):
    """Which door a document's text came in by."""

    UPLOAD = "upload", _("Upload")
    PASTE = "paste", _("Pasted text")
    API = "api", _("API")
    FOLDER = "folder", _("Folder")
    GIT = "git", _("Repository")
    SAMPLE = "sample", _("Sample")
    CLONE = "clone", _("Clone")


class Format(TextChoices):
    """What a document was before it became Markdown text."""

    MARKDOWN = "markdown", _("Markdown")
    TEXT = "text", _("Plain text")
    RST = "rst", _("reStructuredText")
    HTML = "html", _("HTML")
    DOCX = "docx", _("Word document")
    PDF = "pdf", _("PDF")


class Outcome(StrEnum):
    """What became of a file or a text that was handed in."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


class TermStatus(TextChoices):
    """Whether a term gets an entry, and who said so."""

    CANDIDATE = "candidate", _("Candidate")
    REQUIRED = "required", _("Required")
    EXCLUDED = "excluded", _("Excluded")
    # Left out by the extraction, as common nouns are; people may think otherwise.
    AUTO_EXCLUDED = "auto_excluded", _("Excluded automatically")


# What gets an entry, and what does not.
IN_GLOSSARY = (TermStatus.CANDIDATE, TermStatus.REQUIRED)
LEFT_OUT = (TermStatus.EXCLUDED, TermStatus.AUTO_EXCLUDED)


class Category(TextChoices):
    """The kinds of terms that every project has; projects add their own (`TermCategory`)."""

    PERSON_NAME = "person_name", _("Person")
    PLACE_NAME = "place_name", _("Place")
    ORGANIZATION = "organization", _("Organisation")
    TITLE = "title", _("Title")
    TECHNICAL_TERM = "technical_term", _("Technical term")
    COMMON_NOUN = "common_noun", _("Common noun")


class Change(TextChoices):
    """What a revision of an entry was."""

    CREATED = "created", _("Added")
    EDITED = "edited", _("Edited")
    PUBLISHED = "published", _("Published from a run")
    DELETED = "deleted", _("Deleted")
    UNDONE = "undone", _("Undone")

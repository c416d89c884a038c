from projects.models.document import Document, DocumentVersion
from projects.models.glossary import EntryRevision, GlossaryEntry
from projects.models.project import DESCRIPTION_LENGTH, NAME_LENGTH, Membership, Project
from projects.models.terms import SynonymGroup, Term, TermCategory

__all__ = [
    "DESCRIPTION_LENGTH",
    "NAME_LENGTH",
    "Document",
    "DocumentVersion",
    "EntryRevision",
    "GlossaryEntry",
    "Membership",
    "Project",
    "SynonymGroup",
    "Term",
    "TermCategory",
]

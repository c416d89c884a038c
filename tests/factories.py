"""One place that makes test data; every function takes what matters and invents the rest."""

from itertools import count

from glossary_site.people.models import User
from projects.access import OPERATOR
from projects.choices import Role, Source
from projects.models import (
    Document,
    GlossaryEntry,
    Membership,
    Project,
    SynonymGroup,
    Term,
    TermCategory,
)
from projects.services import synonyms
from projects.services.categories import add_category
from projects.services.documents import store_document
from projects.services.glossary import add_entry
from projects.services.projects import create_project
from projects.services.terms import add_term

_serial = count(1)
PASSWORD = "correct horse battery staple"


def make_user(username: str = "", **fields) -> User:
    return User.objects.create_user(username or f"user{next(_serial)}", password=PASSWORD, **fields)


def make_superuser(username: str = "") -> User:
    return make_user(username or f"root{next(_serial)}", is_superuser=True, is_staff=True)


def make_project(name: str = "", *, owner: User | None = None, **fields) -> Project:
    name = name or f"Project {next(_serial)}"
    return create_project(actor=owner or OPERATOR, name=name, **fields)


def make_member(project: Project, role: Role, user: User | None = None) -> User:
    user = user or make_user()
    Membership.objects.create(project=project, user=user, role=role)
    return user


def make_document(
    project: Project,
    path: str = "",
    content: str = "# Title\n\nText.\n",
    source: Source = Source.UPLOAD,
):
    stored = store_document(
        project=project,
        path=path or f"notes/{next(_serial)}.md",
        content=content,
        source=source,
        actor=OPERATOR,
    )
    return Document.objects.get(pk=stored.document_id)


def make_term(project: Project, text: str = "", **fields) -> Term:
    return add_term(
        project=project, text=text or f"term x{next(_serial)}", actor=OPERATOR, **fields
    )


def make_group(project: Project) -> SynonymGroup:
    """Three terms that mean the same."""
    primary, *others = [make_term(project) for _ in range(3)]
    return synonyms.make_group(project=project, primary=primary, terms=others, actor=OPERATOR)


def make_category(project: Project, name: str = "") -> TermCategory:
    return add_category(project=project, name=name or f"Kind {next(_serial)}", actor=OPERATOR)


def make_entry(project: Project, term: str = "", **fields) -> GlossaryEntry:
    return add_entry(
        project=project,
        term=term or f"entry x{next(_serial)}",
        actor=OPERATOR,
        **{"definition": "What it means.", **fields},
    )

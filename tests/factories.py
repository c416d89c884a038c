"""One place that makes test data; every function takes what matters and invents the rest."""

from itertools import count

from glossary_site.people.models import User
from projects.access import OPERATOR
from projects.choices import Role, Source
from projects.models import Document, Membership, Project
from projects.services.documents import store_document
from projects.services.projects import create_project

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


def make_document(project: Project, path: str = "", content: str = "# Title\n\nText.\n"):
    stored = store_document(
        project=project,
        path=path or f"notes/{next(_serial)}.md",
        content=content,
        source=Source.UPLOAD,
        actor=OPERATOR,
    )
    return Document.objects.get(pk=stored.document_id)

"""The life of a project: made, changed, cloned, deleted."""

from contextlib import suppress

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services.audit import SITE
from glossary_site.jobs.services.runs import cancel_run
from glossary_site.live.services import publish
from glossary_site.llm.services import processes
from glossary_site.llm.services.providers import clear_provider
from projects.access import Actor, author_of, name_of
from projects.choices import Format, Language, Role, Source
from projects.intake.files import Draft
from projects.models import Membership, Project
from projects.services.documents import lock_documents, store_documents
from projects.services.terms.copying import copy_lists
from projects.services.terms.texts import has_controls
from projects.stopping import empty_all, lock_all, stop_all
from projects.terms.signs import visible

# What a clone takes over from the project it is made from.
SETTINGS = ("description", "language")
CLONE_CHUNK = 100


def create_project(
    *,
    actor: Actor,
    name: str,
    description: str = "",
    language: str = Language.ENGLISH,
) -> Project:
    """Make a project; whoever makes it is its owner."""
    owner = author_of(actor)
    name = _clean_name(name)
    try:
        with transaction.atomic():
            project = Project.objects.create(name=name, description=description, language=language)
            if owner is not None:
                Membership.objects.create(project=project, user=owner, role=Role.OWNER)
            publish(project.stream, "project.created", {"name": name, "by": name_of(actor)})
    except IntegrityError as error:
        raise _name_taken(name) from error
    return project


def update_project(*, project: Project, actor: Actor, **changes: str) -> Project:
    """Change the name, the description or the language; nothing happens where nothing differs."""
    if unknown := changes.keys() - {"name", *SETTINGS}:
        raise TypeError(f"not a setting of a project: {', '.join(sorted(unknown))}")
    if "name" in changes:
        changes["name"] = _clean_name(changes["name"])
    changed = [key for key, value in changes.items() if getattr(project, key) != value]
    if not changed:
        return project
    try:
        with transaction.atomic():
            for key in changed:
                setattr(project, key, changes[key])
            project.save(update_fields=[*changed, "updated_at"])
            publish(
                project.stream,
                "project.changed",
                {"name": project.name, "changed": sorted(changed), "by": name_of(actor)},
            )
    except IntegrityError as error:
        raise _name_taken(changes["name"]) from error
    return project


@transaction.atomic
def clone_project(*, project: Project, actor: Actor, name: str) -> Project:
    """A new project with the same settings, the present text of every document, and what people
    have said about terms."""
    settings = {key: getattr(project, key) for key in SETTINGS}
    clone = create_project(actor=actor, name=name, **settings)
    documents = project.documents.order_by("path").iterator(chunk_size=CLONE_CHUNK)
    drafts = (
        Draft(
            path=document.path,
            content=document.content,
            title=document.title,
            format=Format(document.format),
        )
        for document in documents
    )
    for _stored in store_documents(project=clone, drafts=drafts, source=Source.CLONE, actor=actor):
        pass
    copy_lists(project=project, clone=clone)
    return clone


def delete_project(*, project: Project, actor: Actor) -> None:
    """Remove a project with everything in it. Its feed ends with the news, for open pages."""
    # Before it is locked: whoever works for it may have to look at its row at the end of what it is
    # writing, and we would wait for each other.
    stop_all(project, actor)
    _delete(project, actor)


@transaction.atomic
def _delete(project: Project, actor: Actor) -> None:
    # Before its feed, as everywhere: those who index are in the middle of some of its documents.
    Project.objects.select_for_update().filter(pk=project.pk).first()
    lock_all(project)
    lock_documents(project.documents.all())
    _stop_work(project, actor)
    empty_all(project)
    clear_provider(scope=project.stream, actor=author_of(actor))
    publish(project.stream, "project.deleted", {"name": project.name, "by": name_of(actor)})
    project.delete()


def _stop_work(project: Project, actor: Actor) -> None:
    """What is done for it has nobody to be done for."""
    who, reason = name_of(actor) or SITE, "The project was deleted."
    processes.cancel_scope(scope=project.stream, actor=who, reason=reason)
    for run in JobRun.objects.active().for_scope(project.stream):
        # One that has ended by itself meanwhile is as good.
        with suppress(Refusal):
            cancel_run(run, actor=who, reason=reason)


def _clean_name(name: str) -> str:
    """One line, and every sign of it can be seen where it stands: names are told apart by looking
    at them, in lists, logs and the question what to delete."""
    line = "".join(sign for sign in visible(" ".join(name.split())) if not has_controls(sign))
    if not (clean := " ".join(line.split())):
        raise Refusal(
            "project_name_invalid",
            _("A project needs a name with letters that can be seen."),
            status=400,
        )
    return clean


def _name_taken(name: str) -> Refusal:
    return Refusal(
        "project_name_taken",
        _("There is already a project called “%(name)s”. Choose another name.") % {"name": name},
    )

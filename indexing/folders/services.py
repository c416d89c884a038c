"""What people decide about folders: follow this one, with these patterns; follow it no more.

Whether somebody may decide it is the caller's question (projects.access).
"""

from typing import Any

from django.db import transaction

from glossary_site.jobs.services import audit
from indexing.folders.opening import allowed_folder, real_folder
from indexing.folders.patterns import Patterns
from indexing.models import FolderFile, FolderSource
from projects.access import Actor, name_of
from projects.models import Project
from projects.services.documents import delete_documents


def set_folder(
    *,
    project: Project,
    directory: str,
    include: str = "",
    exclude: str = "",
    enabled: bool,
    actor: Actor,
) -> FolderSource:
    """Let a project follow a folder below the allowed roots, or change how it does. Patterns are
    lines as in `.gitignore`. The workers notice within a second or two."""
    return _set(
        project=project,
        directory=allowed_folder(directory),
        include=include,
        exclude=exclude,
        enabled=enabled,
        actor=actor,
    )


def set_folder_of_command(
    *, project: Project, directory: str, include: str, exclude: str, actor: Actor
) -> FolderSource:
    """The same for whoever runs a command on the machine: any folder, and not by the workers. One
    that the workers follow keeps its patterns."""
    path = real_folder(directory)
    present = FolderSource.objects.filter(project=project, directory=path, enabled=True).first()
    return present or _set(
        project=project,
        directory=path,
        include=include,
        exclude=exclude,
        enabled=False,
        actor=actor,
    )


@transaction.atomic
def _set(
    *, project: Project, directory: str, include: str, exclude: str, enabled: bool, actor: Actor
) -> FolderSource:
    Patterns.of(include, exclude)
    source, created = FolderSource.objects.select_for_update().get_or_create(
        project=project, directory=directory
    )
    before = {} if created else _facts(source)
    source.include, source.exclude, source.enabled = include, exclude, enabled
    if _facts(source) != before:
        source.save(update_fields=["include", "exclude", "enabled"])
        audit.record(_name(actor), "set folder", source, before=before, after=_facts(source))
    return source


@transaction.atomic
def remove_folder(*, source: FolderSource, actor: Actor, keep_documents: bool = True) -> int:
    """Follow it no more; returns how many documents went with it. Those that are files of another
    folder, too, stay."""
    # The project's row first, as everywhere. A follower that is just writing comes to its end, and
    # the next one finds the folder gone.
    project = Project.objects.select_for_update(no_key=True).get(pk=source.project_id)
    files = FolderFile.objects.filter(source=source, document__isnull=False)
    deleted = 0
    if not keep_documents:
        elsewhere = FolderFile.objects.exclude(source=source).filter(document__isnull=False)
        ids = files.exclude(document__in=elsewhere.values("document"))
        deleted = delete_documents(
            project=project,
            ids=[pk for pk in ids.values_list("document_id", flat=True) if pk is not None],
            actor=actor,
        )
    audit.record(
        _name(actor), "remove folder", source, before=_facts(source), after={"deleted": deleted}
    )
    source.delete()
    return deleted


def _facts(source: FolderSource) -> dict[str, Any]:
    return {
        "project": source.project_id,
        "directory": source.directory,
        "include": source.include,
        "exclude": source.exclude,
        "enabled": source.enabled,
    }


def _name(actor: Actor) -> str:
    return name_of(actor) or "operator"

"""An owner's choice for the search of a project."""

from django.db import transaction
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.jobs.services.audit import SITE, record
from indexing.embedders.registry import EMBEDDERS
from indexing.models import ProjectIndex
from indexing.services.replacing import project_index
from indexing.services.waking import FILL, wake
from projects.access import Actor, name_of
from projects.models import Project


def choose_embedder(*, project: Project, choice: str, actor: Actor) -> ProjectIndex:
    """The name of an embedder, or empty for the site's. Its vectors are made in the background;
    those that are there serve until it is done."""
    if choice and choice not in EMBEDDERS:
        raise Refusal(
            "unknown_embedder",
            _("There is no embedder called “%(name)s”.") % {"name": choice},
            status=400,
        )
    with transaction.atomic():
        project_index(project.pk)
        index = ProjectIndex.objects.select_for_update().get(pk=project.pk)
        if index.chosen_embedder == choice:
            return index
        before, index.chosen_embedder = index.chosen_embedder, choice
        index.save(update_fields=["chosen_embedder"])
        record(
            name_of(actor) or SITE,
            "index.choose_embedder",
            project,
            before={"embedder": before},
            after={"embedder": choice},
        )
        transaction.on_commit(lambda: wake(project.pk, FILL), robust=True)
    return index

"""The sample project: what a new site shows before anybody has brought documents of their own."""

from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from projects.access import Actor
from projects.choices import Language, Source
from projects.models import Project
from projects.services.imports import import_folder
from projects.services.projects import create_project

NAME = _("Uzumi Island Power Cooperative")
DESCRIPTION = _(
    "A sample to explore: the handbook, manuals and reports of a small island’s electricity "
    "network, in English and Japanese."
)
DOCUMENTS = Path(__file__).parent / "documents"


@transaction.atomic
def load_sample(*, actor: Actor) -> Project:
    """Make the sample project; whoever asks for it owns it. A Refusal if its name is taken."""
    project = create_project(
        actor=actor, name=str(NAME), description=str(DESCRIPTION), language=Language.ENGLISH
    )
    for _result in import_folder(
        project=project, folder=DOCUMENTS, actor=actor, source=Source.SAMPLE
    ):
        pass
    return project

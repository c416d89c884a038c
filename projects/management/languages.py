"""Projects that commands make have the language that their documents are in."""

from projects.access import Actor
from projects.choices import Language
from projects.languages import language_of
from projects.models import Project
from projects.services.projects import update_project

# So much of each document says in which language a folder is.
SAMPLE_LENGTH = 2000
SAMPLE_DOCUMENTS = 50


def take_language(project: Project, actor: Actor) -> None:
    texts = project.documents.order_by("path").values_list("content", flat=True)[:SAMPLE_DOCUMENTS]
    languages = [language_of(text[:SAMPLE_LENGTH]) for text in texts]
    is_japanese = languages.count("ja") > languages.count("en")
    language = Language.JAPANESE if is_japanese else Language.ENGLISH
    update_project(project=project, actor=actor, language=language)

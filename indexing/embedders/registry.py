"""Which embedder a project wants, and which one made the vectors that serve."""

from collections.abc import Callable

from django.conf import settings

from indexing.embedders import minilm, openai, wordllama
from indexing.embedders.base import Embedder
from indexing.models import ProjectIndex

NONE = "none"
LOCAL: dict[str, Callable[[], Embedder]] = {
    wordllama.KIND: wordllama.wordllama,
    minilm.KIND: minilm.minilm,
}
# The names an owner or `GLOSSARY_EMBEDDER` may choose.
EMBEDDERS = (*LOCAL, openai.KIND, NONE)


def embedder_for(project_id: int) -> Embedder | None:
    """The one that is wanted now; None where vectors are switched off. It may turn out not to be
    available: its `problem` says so beforehand, and `embed` raises."""
    chosen = ProjectIndex.objects.filter(pk=project_id).values_list("chosen_embedder", flat=True)
    return embedder_chosen(chosen.first() or "", project_id)


def embedder_chosen(kind: str, project_id: int) -> Embedder | None:
    """The same for those who have read what an owner chose; empty: as the site is set."""
    kind = kind or settings.EMBEDDER
    if kind in LOCAL:
        return LOCAL[kind]()
    return openai.endpoint_for(project_id) if kind == openai.KIND else None


def embedder_of_key(key: str, project_id: int) -> Embedder | None:
    """The one whose vectors have this key; None where it cannot be asked any more."""
    for make in LOCAL.values():
        if make().key == key:
            return make()
    if key.startswith(f"{openai.KIND}:"):
        return openai.endpoint_of_key(key, project_id)
    return None

"""From a document's text to everything that will be written of it. Writes nothing itself.

What has not changed is not made again: words and vectors of a section whose text is the same are
taken from the sections that are there.
"""

import hashlib
import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from indexing.embedders.base import Check, Embedder, EmbedderUnavailable, never
from indexing.lexical.analysis import spaced_words_of
from indexing.models import Section
from indexing.sections.limits import Limits
from indexing.sections.pieces import Piece
from indexing.sections.split import split
from indexing.services.requests import Claim
from indexing.vectors.packing import pack_rows
from indexing.vectors.store import vectors_by_text
from projects.models import Document

logger = logging.getLogger(__name__)

# Changed whenever the same text would give other words: nothing old is carried over then.
ANALYSIS_VERSION = 1


@dataclass(frozen=True, slots=True)
class Draft:
    """A section to be: its piece, and what the search needs of it."""

    piece: Piece
    text_hash: str
    heading_words: str
    words: str


@dataclass
class Built:
    """All that is to be written of one document."""

    claim: Claim
    project_id: int
    drafts: list[Draft]
    # For each embedder the vector of each text; the same text has the same vector.
    vectors: dict[str, dict[str, bytes]] = field(default_factory=dict)


def build(
    claim: Claim,
    document: Document,
    *,
    embedders: Collection[str],
    limits: Limits,
    is_first: bool = False,
) -> Built:
    """`embedders` are the keys of those whose vectors are taken along. With `is_first` nothing is
    there yet to be kept, and it is not looked for."""
    anew = claim.force or is_first
    known = {} if anew else _known_words(document)
    pieces = split(document.content, limits=limits)
    parents = {piece.parent for piece in pieces}
    drafts = [
        # A heading with nothing of its own but sections below it is found through these: its words
        # are among theirs.
        _silent(piece) if not piece.content and piece.order in parents else _draft(piece, known)
        for piece in pieces
    ]
    built = Built(claim=claim, project_id=document.project_id, drafts=drafts)
    for key in () if anew else embedders:
        there = vectors_by_text(document_id=document.pk, embedder=key)
        built.vectors[key] = {
            draft.text_hash: there[draft.text_hash] for draft in drafts if draft.text_hash in there
        }
    return built


def embed_missing(builds: Sequence[Built], embedder: Embedder) -> None:
    """The texts that have no vector yet, of several documents at once: embedders like company."""
    texts: dict[str, str] = {}
    for built in builds:
        there = built.vectors.get(embedder.key, {})
        texts |= {
            draft.text_hash: text_to_embed(draft.piece.heading_path, draft.piece.content)
            for draft in built.drafts
            if draft.piece.content and draft.text_hash not in there
        }
    if not texts:
        return
    try:
        made = dict(zip(texts, embedded(embedder, texts.values()), strict=True))
    except EmbedderUnavailable as error:
        # Found by its words all the same; the vectors are filled in when there are some to be had.
        logger.warning("No vectors of %s: %s", embedder.key, error)
        return
    for built in builds:
        vectors = built.vectors.setdefault(embedder.key, {})
        for draft in built.drafts:
            if draft.text_hash in made:
                vectors[draft.text_hash] = made[draft.text_hash]


def embedded(embedder: Embedder, texts: Iterable[str], *, check: Check = never) -> list[bytes]:
    return pack_rows(embedder.embed(list(texts), check=check))


def text_to_embed(heading_path: Sequence[str], content: str) -> str:
    """With its headings: "Installation" alone does not say of what."""
    return "\n".join((" › ".join(heading_path), content)) if heading_path else content


def _draft(piece: Piece, known: dict[str, tuple[str, str]]) -> Draft:
    text_hash = _hash_of(piece)
    words = known.get(text_hash)
    if words is None:
        heading = spaced_words_of("\n".join(piece.heading_path))
        words = heading, spaced_words_of(piece.content)
    return Draft(piece=piece, text_hash=text_hash, heading_words=words[0], words=words[1])


def _silent(piece: Piece) -> Draft:
    return Draft(piece=piece, text_hash=_hash_of(piece), heading_words="", words="")


def _hash_of(piece: Piece) -> str:
    parts = (str(ANALYSIS_VERSION), *piece.heading_path, "", piece.content)
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _known_words(document: Document) -> dict[str, tuple[str, str]]:
    rows = Section.objects.filter(document=document).values_list(
        "text_hash", "heading_words", "words"
    )
    return {text_hash: (heading_words, words) for text_hash, heading_words, words in rows}

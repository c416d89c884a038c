"""The built-in definition of a term, from its contexts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from projects.languages import language_of
from runs.engine.definitions import layout
from runs.engine.definitions.aliases import aliases_of
from runs.engine.definitions.findings import STRONG
from runs.engine.definitions.judging import judged
from runs.engine.definitions.plain import plain
from runs.engine.definitions.reading import cells
from runs.engine.definitions.sentences import sentences
from runs.engine.definitions.spelling import Subject, folded, is_japanese
from runs.engine.definitions.stitching import capital, expanded, goes_on, tidy
from runs.pipeline.data import Context, Entry, Evidence, Term

# An example of use is no definition, and this says so.
USED_IN = {"en": "Used in: “{}”", "ja": "用例：「{}」"}
NOWHERE = {
    "en": "No passage in the documents uses this term.",
    "ja": "この用語を使っている箇所は文書の中に見つかりません。",
}
# Counted, but in no sentence.
NO_SENTENCE = {
    "en": "It stands only in headings, in code or inside longer terms.",
    "ja": "見出しかコード、またはより長い用語の中にだけ現れます。",
}
CONFIDENCE_OF_USE = 0.2
CONFIDENCE_OF_NOTE = 0.5
# From here on nobody needs to look at it before it is shown.
SURE = 0.7
LONGEST_EXAMPLE = 240
MOST_RELATED = 5
# As a document counts its lines: a form feed, or what else Python takes for an end, is none.
LINE_END = re.compile(r"\r\n?|\n")
HEAD_AND_MEANING = re.compile(r"\n[ \t]{0,3}:[ \t]+")


@dataclass(frozen=True)
class _Definition:
    """A definition in plain words, and the piece of its context that it rests on."""

    text: str
    quote: str
    context: Context


def define(
    term: Term, contexts: Sequence[Context], *, known: Sequence[str] = (), language: str = ""
) -> Entry:
    """The best definition that the contexts hold, or an honest example of use.

    `known` are the names of other terms: those that the definition uses become related ones.
    `language` is the project's, for what no document says.
    """
    subject = Subject(term)
    for context in sorted(contexts, key=lambda each: -each.definitional):
        if context.definitional >= STRONG and (found := _definition(context, subject)):
            return _entry(
                subject,
                contexts,
                definition=found.text,
                confidence=context.definitional,
                evidence=(_evidence(context, found.quote),),
                known=known,
            )
    language = language or term.language
    evidence = tuple(_evidence(context, context.text) for context in contexts[:3])
    if note := term.note.strip():
        return _entry(
            subject, contexts, definition=note, confidence=CONFIDENCE_OF_NOTE, evidence=evidence
        )
    if not contexts:
        words = NO_SENTENCE if term.frequency else NOWHERE
        said = words.get(language, words["en"])
        return _entry(subject, (), definition=said, confidence=0.0, evidence=())
    example = _example(contexts[0])
    # In the language of the sentence: so a definition is in one, whatever the term is.
    used_in = USED_IN.get(language_of(example) or term.language, USED_IN["en"])
    return _entry(
        subject,
        contexts,
        definition=used_in.format(example),
        confidence=CONFIDENCE_OF_USE,
        evidence=evidence,
    )


def _entry(
    subject: Subject,
    contexts: Sequence[Context],
    *,
    definition: str,
    confidence: float,
    evidence: tuple[Evidence, ...],
    known: Sequence[str] = (),
) -> Entry:
    term = subject.term
    return Entry(
        term=term.text,
        key=term.key,
        language=term.language,
        reading=term.reading,
        definition=definition,
        confidence=confidence,
        category=term.category,
        aliases=aliases_of(subject, contexts),
        related=_used(definition, known, subject),
        evidence=evidence,
        supported=bool(evidence) or bool(term.note.strip()),
        needs_review=confidence < SURE,
        score=term.score,
        frequency=term.frequency,
    )


def _definition(context: Context, subject: Subject) -> _Definition | None:
    pattern = context.pattern.partition(":")[0]
    if pattern == "table":
        column, _others = layout.columns(context.pattern)
        row = cells(context.text)
        if column is None or column >= len(row):
            return None
        return _Definition(capital(tidy(plain(row[column]))), context.text, context)
    if pattern == "definition-list":
        _head, *meaning = HEAD_AND_MEANING.split(context.text, maxsplit=1)
        return _first(plain(meaning[0]), context, subject) if meaning else None
    if pattern == "list":
        return _first(layout.after_name(context.text, subject), context, subject)
    return _of_sentences(context, subject)


def _first(words: str, context: Context, subject: Subject) -> _Definition | None:
    """The first sentence of what is said of a term, with the next one where that belongs to it."""
    spans = sentences(words, 0, len(words))
    if not spans:
        return None
    text = words[: spans[0][1]]
    if len(spans) > 1:
        following = words[slice(*spans[1])]
        if goes_on(text, following, subject):
            joint = "" if is_japanese(text) else " "
            text += joint + expanded(following, subject, after=text)
    return _Definition(capital(tidy(text)), context.text, context)


def _of_sentences(context: Context, subject: Subject) -> _Definition | None:
    spans = sentences(context.text, 0, len(context.text))
    raw = [context.text[start:end] for start, end in spans]
    best = None
    for number in range(len(raw)):
        is_titled = number == 0 and context.pattern == "heading"
        found = judged(raw, number, subject, is_titled=is_titled)
        if found and (best is None or found.finding.score > best.finding.score):
            best = found
    if best is None:
        return None
    first = last = best.sentence
    text = expanded(tidy(plain(raw[first])), subject)
    if best.finding.pattern == "naming":
        last = first + 1
        text += ("" if is_japanese(text) else " ") + plain(raw[last])
    elif first + 1 < len(raw):
        following = plain(raw[first + 1])
        if goes_on(text, following, subject):
            last = first + 1
            joint = "" if is_japanese(text) else " "
            text += joint + expanded(following, subject, after=text)
    quote = context.text[spans[first][0] : spans[last][1]]
    return _Definition(text, quote, context)


def _evidence(context: Context, quote: str) -> Evidence:
    before = context.text[: context.text.index(quote)]
    first = context.line_start + len(LINE_END.findall(before))
    return Evidence(
        document_id=context.document_id,
        path=context.path,
        file_hash=context.file_hash,
        line_start=first,
        line_end=first + len(LINE_END.findall(quote)),
        quote=quote,
        heading_path=context.heading_path,
    )


def _example(context: Context) -> str:
    """A context in one line that is no longer than people read."""
    text = plain(" — ".join(filter(None, cells(context.text)))) if _is_row(context) else ""
    text = text or plain(context.text)
    if len(text) <= LONGEST_EXAMPLE:
        return text
    cut = text[:LONGEST_EXAMPLE]
    if " " in cut[-40:] and not is_japanese(cut):
        cut = cut.rsplit(" ", 1)[0]
    return cut.rstrip(" ,、") + "…"


def _is_row(context: Context) -> bool:
    return context.text.lstrip().startswith("|") or context.pattern.startswith("table")


def _used(definition: str, known: Sequence[str], subject: Subject) -> tuple[str, ...]:
    """The other terms that a definition uses, in the order in which it does."""
    text = folded(definition)
    places = {}
    for name in known:
        if subject.is_named_by(name):
            continue
        found = re.search(rf"(?<![a-z0-9]){re.escape(folded(name))}(?![a-z0-9])", text)
        if found:
            places[name] = found.start()
    return tuple(sorted(places, key=lambda name: (places[name], name)))[:MOST_RELATED]

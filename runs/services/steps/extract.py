"""Finding terms: only documents that changed are read again; what people said stays."""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from glossary_site.checking import Check
from glossary_site.llm.requests import Request, Result
from projects.choices import Category
from projects.services.terms import Found, categories_of, take_extraction
from runs.engine.counting import counted
from runs.engine.terms import ANALYSIS_VERSION, DocumentAnalysis, analyse, rank
from runs.models import DocumentTerms
from runs.pipeline import extract as pipeline
from runs.pipeline.data import Candidate, SourceDocument
from runs.services import asking
from runs.services.asking import answered, finishing, note_failures
from runs.services.rows import occurrences_to_store
from runs.services.sizes import worth
from runs.services.terms import snapshot_terms
from runs.services.work import Work

# What is read between two looks at the database: documents, and characters, for about a second.
TOGETHER = 20
CHARACTERS = 200_000
COMMON_NOUN = "common_noun"


def extract(work: Work) -> None:
    candidates = _candidates(work)
    names = {candidate.key: candidate.text for candidate in candidates}
    answered(work, lambda: _questions(work, candidates), names=names)
    with finishing(work, of_project=True) as results:
        candidates = _classified(work, candidates, results, names)
        taken = take_extraction(
            project=work.project,
            found=[_found(candidate) for candidate in candidates],
            check=work.session.check,
        )
        count = snapshot_terms(work.run, limit=work.options.limit)
        found = ngettext("%(n)s term.", "%(n)s terms.", count) % {"n": count}
        if left_out := work.run.terms.exclude(excluded_because="").count():
            more = ngettext("%(n)s more is left out.", "%(n)s more are left out.", left_out)
            found += " " + more % {"n": left_out}
        changes = _("%(added)s new, %(removed)s not found any more.") % {
            "added": taken.added,
            "removed": taken.removed,
        }
        work.step.total = count
        work.step.save(update_fields=["total"])
        work.progress(count, count, lines=[work.line(f"{found} {changes}")])


def _candidates(work: Work) -> list[Candidate]:
    """The analyses, which are many times the texts, are gone when these are there."""
    # What is found is the project's, for all runs: how few get an entry in this one cuts no list.
    limit = max(work.options.limit, worth(sum(len(each.text) for each in work.documents)))
    check = work.session.check
    ranked = rank(_read(work), lists=work.lists, limit=limit, check=check)
    return counted(ranked, work.documents, check=check)


def _read(work: Work) -> dict[int, DocumentAnalysis]:
    analyses: dict[int, DocumentAnalysis] = {}
    documents = work.documents
    read = 0
    for chunk in _portions(documents):
        known = dict(_known(chunk))
        fresh = []
        for document in chunk:
            work.session.check()
            if document.id not in known:
                known[document.id] = analyse(document.text, check=work.session.check)
                fresh.append(document)
        analyses |= known
        read += len(fresh)
        rows = list(_rows(fresh, known, work.session.check))
        with work.session.atomic():
            _remember(work, rows)
            work.progress(len(analyses), len(documents), term=chunk[-1].path[-200:])
        work.tell()
    again = ngettext("%(n)s document was read, ", "%(n)s documents were read, ", read) % {"n": read}
    work.log(again + _("%(n)s had not changed.") % {"n": len(documents) - read})
    return analyses


def _portions(documents: Iterable[SourceDocument]) -> Iterator[list[SourceDocument]]:
    portion: list[SourceDocument] = []
    characters = 0
    for document in documents:
        portion.append(document)
        characters += len(document.text)
        if len(portion) == TOGETHER or characters > CHARACTERS:
            yield portion
            portion, characters = [], 0
    if portion:
        yield portion


def _known(documents: Sequence[SourceDocument]) -> Iterator[tuple[int, DocumentAnalysis]]:
    hashes = {document.id: document.file_hash for document in documents}
    rows = DocumentTerms.objects.filter(pk__in=hashes, version=ANALYSIS_VERSION)
    for row in rows:
        if row.file_hash == hashes[row.pk]:
            yield row.pk, DocumentAnalysis.from_json(json.loads(zlib.decompress(row.data)))


def _rows(
    fresh: Sequence[SourceDocument], known: dict[int, DocumentAnalysis], check: Check
) -> Iterator[DocumentTerms]:
    """Written before the transaction that stores them: of a book that takes a second."""
    for document in fresh:
        check()
        data = known[document.id].to_json()
        check()
        yield DocumentTerms(
            document_id=document.id,
            file_hash=document.file_hash,
            version=ANALYSIS_VERSION,
            data=zlib.compress(json.dumps(data).encode()),
        )


def _remember(work: Work, rows: Sequence[DocumentTerms]) -> None:
    there = set(
        work.project.documents.filter(pk__in=[row.document_id for row in rows])
        .select_for_update(of=("self",), no_key=True)
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    DocumentTerms.objects.bulk_create(
        (row for row in rows if row.document_id in there),
        update_conflicts=True,
        unique_fields=["document"],
        update_fields=["file_hash", "version", "data"],
    )


def _questions(work: Work, candidates: Sequence[Candidate]) -> Iterable[Request]:
    """The built-in engine has said of each what it knows."""
    if work.builtin:
        return ()
    return pipeline.classify_requests(
        candidates,
        work.documents,
        language=work.language,
        categories=work.own_categories,
        builtin=False,
        most_tokens=work.most_tokens,
    )


def _classified(
    work: Work, candidates: Sequence[Candidate], results: Iterable[Result], names: dict[str, str]
) -> list[Candidate]:
    """What a model says of the candidates; what people said stands above it."""
    classes: dict[str, pipeline.Class] = {}
    for result in results:
        if result.ok:
            classes |= pipeline.read_classes(
                result.key, result.data, categories=work.own_categories
            )
        else:
            note_failures(work, asking.failures_of(result, names))
    left_out = {each.key for each in categories_of(work.project) if each.auto_exclude}
    left_out.add(Category.COMMON_NOUN)
    return [
        _with_class(work, candidate, classes.get(candidate.key), left_out)
        for candidate in candidates
    ]


def _with_class(
    work: Work, candidate: Candidate, said: pipeline.Class | None, left_out: set[str]
) -> Candidate:
    if said is not None:
        category = work.lists.categories.get(candidate.key) or said.category
        because = "" if said.is_term else said.reason or said.category
        candidate = replace(candidate, category=category, excluded_because=because)
    if candidate.required:
        return replace(candidate, excluded_because="")
    if candidate.category in left_out and not candidate.excluded_because:
        return replace(candidate, excluded_because=candidate.category)
    return candidate


def _found(candidate: Candidate) -> Found:
    return Found(
        text=candidate.text,
        key=candidate.key,
        reading=candidate.reading,
        language=candidate.language,
        category=candidate.category,
        score=candidate.score,
        frequency=candidate.frequency,
        document_count=candidate.document_count,
        variants=list(candidate.variants),
        occurrences=occurrences_to_store(candidate.occurrences),
        excluded_because=candidate.excluded_because[:300],
    )

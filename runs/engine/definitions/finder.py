"""The passages in which terms stand: found in one pass over all documents, then chosen."""

from collections import Counter
from collections.abc import Iterable, Sequence

from runs.engine.definitions.choosing import choose
from runs.engine.definitions.passages import Passage
from runs.engine.definitions.passes import Pass, Together
from runs.engine.definitions.scanning import Scanner
from runs.engine.definitions.spelling import Subject
from runs.pipeline.data import Context, SourceDocument, Term

# How many passages of a term are kept, of each sort.
MOST_KEPT = 40
# A heading of so many sections ("Rationale") is what each of them is for, and names nothing.
RECURRING = 3


class ContextFinder:
    """Reads the documents of a run once for all terms that are asked for together.

    Say which with `prepare`: a term that comes alone costs a pass over all documents by itself.
    """

    def __init__(self, documents: Sequence[SourceDocument]) -> None:
        self._documents = documents
        self._spellings: dict[str, tuple[str, ...]] = {}
        self._passages: dict[str, list[Passage]] = {}
        # What was chosen of them: a question shows it, and its answer is held against it.
        self._chosen: dict[tuple[str, tuple[str, ...], int, int], list[Context]] = {}
        # How many sentences a term is in, two terms are in together, and there are.
        self._counts: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._sentences = 0

    def prepare(self, terms: Iterable[Term]) -> None:
        """Look for these terms, all at once; those already looked for are passed over."""
        new = {term.key: term for term in terms if self._is_new(term)}
        if not new:
            return
        subjects = [Subject(term) for term in new.values()]
        scanner, together = Scanner(subjects), Together()
        kept = [_Kept() for _ in subjects]
        unnamed: list[tuple[int, Passage]] = []
        for number, document in enumerate(self._documents):
            reading = Pass(document, number, subjects, scanner)
            for subject, passage in reading.passages(together):
                kept[subject].add(passage)
            unnamed += reading.unnamed
        for subject, passage in unnamed:
            if together.headings[subject] < RECURRING:
                kept[subject].add(passage)
        keys = list(new)
        for key, term, passages in zip(keys, new.values(), kept, strict=True):
            self._spellings[key] = term.spellings
            self._passages[key] = passages.best()
        self._remember(together, keys)

    def contexts(self, term: Term, *, limit: int = 6, most_tokens: int = 900) -> list[Context]:
        """The most definitional passages, then different ones. Each is verbatim."""
        self.prepare([term])
        asked = (term.key, term.spellings, limit, most_tokens)
        if asked not in self._chosen:
            chosen = choose(self._passages[term.key], limit=limit, most_tokens=most_tokens)
            self._chosen[asked] = [self._context(passage) for passage in chosen]
        return self._chosen[asked]

    def companions(self, keys: Iterable[str]) -> Iterable[tuple[str, str, int]]:
        """Pairs of these terms that stand in the same sentences, and in how many."""
        wanted = set(keys)
        for (one, other), count in self._pairs.items():
            if one in wanted and other in wanted:
                yield one, other, count

    def sentence_count(self, key: str | None = None) -> int:
        """How many sentences a term stands in; without one, how many were looked at."""
        return self._sentences if key is None else self._counts[key]

    def _is_new(self, term: Term) -> bool:
        return self._spellings.get(term.key) != term.spellings

    def _remember(self, together: Together, keys: list[str]) -> None:
        self._sentences = max(self._sentences, together.sentences)
        for number, count in together.counts.items():
            self._counts[keys[number]] = count
        for (one, other), count in together.pairs.items():
            first, second = sorted((keys[one], keys[other]))
            self._pairs[first, second] = count

    def _context(self, passage: Passage) -> Context:
        document = self._documents[passage.document]
        return Context(
            document_id=document.id,
            path=document.path,
            file_hash=document.file_hash,
            line_start=passage.line_start,
            line_end=passage.line_end,
            heading_path=passage.heading_path,
            text=passage.text,
            definitional=passage.score,
            pattern=passage.pattern,
        )


class _Kept:
    """The best passages of a term so far: definitions and examples of use apart."""

    def __init__(self) -> None:
        self._sorts: tuple[list[Passage], list[Passage]] = ([], [])

    def add(self, passage: Passage) -> None:
        passages = self._sorts[bool(passage.pattern)]
        passages.append(passage)
        if len(passages) >= 2 * MOST_KEPT:
            passages.sort(key=Passage.order)
            del passages[MOST_KEPT:]

    def best(self) -> list[Passage]:
        return [
            passage
            for passages in self._sorts
            for passage in sorted(passages, key=Passage.order)[:MOST_KEPT]
        ]

"""The passages in which terms stand: places found in one pass over all documents, passages judged
and chosen when they are asked for."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from glossary_site.checking import Check, checked
from runs.engine.definitions.choosing import choose
from runs.engine.definitions.passages import Passage
from runs.engine.definitions.passes import Pass, Together
from runs.engine.definitions.scanning import Scanner
from runs.engine.definitions.spelling import Subject
from runs.pipeline.data import Context, SourceDocument, Term

# How many passages of a term are kept, of each sort.
MOST_KEPT = 40
# Characters of documents that stay open for the passages of terms that come later. What is beyond
# that is judged at once: an open document takes several times the memory of its text.
MOST_OPEN = 4_000_000
# Pairs of terms between two checks.
PAIRS_AT_A_TIME = 20_000
# A heading of so many sections ("Rationale") is what each of them is for, and names nothing.
RECURRING = 3
# What so many items begin with ("Type: …"), each going on in its own way, is no term of theirs.
LABELS = 6
LABELLED = ("list", "definition-list")
# No more than an example of use.
OF_A_LABEL = 0.2


class ContextFinder:
    """Reads the documents of a run once for all terms that are asked for together.

    Say which with `prepare`: a term that comes alone costs a pass over all documents by itself.
    `check` is called often, whatever it is asked for, and may raise, to stop.
    """

    def __init__(self, documents: Sequence[SourceDocument], *, check: Check = bool) -> None:
        self._documents = documents
        self._check = check
        self._spellings: dict[str, tuple[str, ...]] = {}
        # In which pass a term was looked for, and its number there; its passages, once asked for.
        self._surveys: dict[str, tuple[_Survey, int]] = {}
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
        scanner, together = Scanner(subjects, check=self._check), Together()
        survey = _Survey(together)
        for number, document in enumerate(self._documents):
            self._check()
            one = Pass(document, number, subjects, scanner, check=self._check)
            one.survey(together)
            survey.add(one, size=len(document.text))
        for number, (key, term) in enumerate(new.items()):
            self._spellings[key] = term.spellings
            self._surveys[key] = survey, number
            self._passages.pop(key, None)
        self._remember(together, list(new))

    def contexts(self, term: Term, *, limit: int = 6, most_tokens: int = 900) -> list[Context]:
        """The most definitional passages, then different ones. Each is verbatim."""
        self._check()
        self.prepare([term])
        asked = (term.key, term.spellings, limit, most_tokens)
        if asked not in self._chosen:
            chosen = choose(self._found(term.key), limit=limit, most_tokens=most_tokens)
            self._chosen[asked] = [self._context(passage) for passage in chosen]
        return self._chosen[asked]

    def companions(self, keys: Iterable[str]) -> Iterable[tuple[str, str, int]]:
        """Pairs of these terms that stand in the same sentences, and in how many."""
        wanted = set(keys)
        pairs = checked(self._pairs.items(), self._check, every=PAIRS_AT_A_TIME)
        for (one, other), count in pairs:
            if one in wanted and other in wanted:
                yield one, other, count

    def sentence_count(self, key: str | None = None) -> int:
        """How many sentences a term stands in; without one, how many were looked at."""
        return self._sentences if key is None else self._counts[key]

    def _found(self, key: str) -> list[Passage]:
        if key not in self._passages:
            survey, number = self._surveys[key]
            self._passages[key] = survey.best(number)
        return self._passages[key]

    def _is_new(self, term: Term) -> bool:
        return self._spellings.get(term.key) != term.spellings

    def _remember(self, together: Together, keys: list[str]) -> None:
        self._sentences = max(self._sentences, together.sentences)
        for number, count in together.counts.items():
            self._counts[keys[number]] = count
        pairs = checked(together.pairs.items(), self._check, every=PAIRS_AT_A_TIME)
        for (one, other), count in pairs:
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


class _Survey:
    """All documents in which the same terms were looked for."""

    def __init__(self, together: Together) -> None:
        self._together = together
        # Of each subject: the documents that it stands in and that are open.
        self._passes: dict[int, list[Pass]] = {}
        self._size = 0
        self._kept: dict[int, _Kept] = {}
        self._unnamed: dict[int, list[Passage]] = {}
        self._labelled: dict[int, _Kept] = {}
        self._beginnings: dict[int, set[str]] = {}

    def add(self, one: Pass, *, size: int) -> None:
        self._size += size
        is_open = self._size <= MOST_OPEN
        for number in one.subjects():
            if is_open:
                self._passes.setdefault(number, []).append(one)
            else:
                self._take(one, number)

    def best(self, number: int) -> list[Passage]:
        """Of all documents; asked once."""
        for one in self._passes.pop(number, ()):
            self._take(one, number)
        kept = self._kept.pop(number, _Kept())
        if self._together.headings[number] < RECURRING:
            for passage in self._unnamed.pop(number, ()):
                kept.add(passage)
        is_label = len(self._beginnings.pop(number, ())) >= LABELS
        for passage in self._labelled.pop(number, _Kept()).best():
            score = min(passage.score, OF_A_LABEL)
            kept.add(replace(passage, score=score, pattern="") if is_label else passage)
        return kept.best()

    def _take(self, one: Pass, number: int) -> None:
        kept = self._kept.setdefault(number, _Kept())
        labelled = self._labelled.setdefault(number, _Kept())
        for passage in one.passages(number):
            (labelled if passage.pattern in LABELLED else kept).add(passage)
        beginnings = self._beginnings.setdefault(number, set())
        if len(beginnings) < LABELS:
            beginnings.update(islice(one.labelled(number), MOST_KEPT))
        self._unnamed.setdefault(number, []).extend(one.unnamed(number))


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

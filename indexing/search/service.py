"""The one search behind the page, the API, the command and assistants."""

from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from indexing.choices import Mode
from indexing.lexical.query import Query, parse
from indexing.lexical.search import Found, find
from indexing.search.answers import answers
from indexing.search.filtering import documents_for
from indexing.search.grouping import group
from indexing.search.meaning import Aim, aims_for, neighbours_of
from indexing.search.mixing import mix
from indexing.search.options import (
    FURTHEST_OFFSET,
    MOST_RESULTS,
    SearchOptions,
    SearchPage,
)
from indexing.search.snapshot import snapshot
from indexing.search.weighing import weighed
from indexing.vectors.cache import Newer, cache

# Of each way of looking, so many are mixed; more where several make one answer, or for later pages.
CANDIDATES = 200
CANDIDATES_GROUPED = 1000
# An embedder finds everything near to some degree: beside words, only its best are worth a place.
NEIGHBOURS_BESIDE_WORDS = 50
# Vectors at hand may be newer than our view, when another search has just brought them up to date.
TRIES = 5


def search(options: SearchOptions) -> SearchPage:
    """Answers are whole and of one moment: a document that is being indexed is found as it was
    before or as it is after."""
    _check(options)
    query = parse(options.query, typing=options.typing)
    notices = list(query.notices)
    if query.is_empty:
        notices = notices or [_("There is no word to look for in this query.")]
        return SearchPage(options, [], total=0, total_is_exact=True, notices=notices)
    aims: list[Aim] = []
    if options.mode is not Mode.LEXICAL:
        aims = aims_for(options, text=query.text, language=query.language, notices=notices)
    for _try in range(TRIES):
        try:
            with snapshot():
                return _search(options, query, aims, notices)
        except Newer:
            continue
    # Ahead for good: the database was put back to an earlier time.
    cache.clear()
    try:
        with snapshot():
            return _search(options, query, aims, notices)
    except Newer:
        # Or so much is being written that the vectors at hand are always ahead of us.
        notices.append(_("Only words were searched: the index is changing too fast."))
    with snapshot():
        return _search(options, query, [], notices)


def _check(options: SearchOptions) -> None:
    if not 1 <= options.limit <= MOST_RESULTS:
        raise Refusal(
            "bad_limit",
            _("The limit is a number from 1 to %(most)s.") % {"most": MOST_RESULTS},
            status=400,
        )
    if not 0 <= options.offset <= FURTHEST_OFFSET:
        raise Refusal(
            "bad_offset",
            _("The offset is a number from 0 to %(most)s.") % {"most": FURTHEST_OFFSET},
            status=400,
        )


def _search(
    options: SearchOptions, query: Query, aims: list[Aim], notices: list[str]
) -> SearchPage:
    end = options.offset + options.limit
    limit = max(CANDIDATES_GROUPED if options.depths else CANDIDATES, 2 * end)
    documents = documents_for(options)
    if documents == []:
        results, entry = answers([], query, options.project_ids)
        return SearchPage(options, results, 0, total_is_exact=True, notices=notices, entry=entry)
    # What has to be there, or must not be, is a matter of words: meaning only orders the rest.
    strict = bool(query.phrases or query.excluded)
    found = Found(scores={}, total=0, exact=True)
    if strict or options.mode is not Mode.VECTOR:
        found = find(query, project_ids=options.project_ids, documents=documents, limit=limit)
    if strict:
        nearest = 0
    elif found.scores:
        nearest = min(limit, NEIGHBOURS_BESIDE_WORDS)
    else:
        nearest = limit
    neighbours = neighbours_of(aims, documents=documents, limit=nearest, also=found.scores)
    words = found.scores if options.mode is not Mode.VECTOR else {}
    scores = mix(words, weighed(neighbours, words, query))
    # What is beyond the candidates was only counted, and cannot be grouped.
    cut = len(found.scores) < found.total
    # Then nobody asks how many groups there are, unless meaning has added more than was counted.
    most = end if cut and found.total >= len(scores) else None
    groups = group(scores, options.depths, most=most)
    notices = [*notices, *found.notices, *_hints(query, found)]
    if groups and not found.total and options.mode is Mode.HYBRID:
        notices.append(_("No section has these words. These are the nearest in meaning."))
    results, entry = answers(groups[options.offset : end], query, options.project_ids)
    return SearchPage(
        options,
        results,
        total=max(found.total, len(groups)) if cut else len(groups),
        total_is_exact=not cut and found.exact,
        notices=notices,
        entry=entry,
    )


def _hints(query: Query, found: Found) -> list[str]:
    """For those who did not mean the signs as they are understood here: `ls -la`, or a question
    copied with its quotation marks."""
    hints = []
    if query.excluded:
        hints.append(
            _(
                "What stands behind a minus is left out. To look for it, put it in quotation marks "
                "together with the word before it."
            )
        )
    if query.phrases and not found.total:
        hints.append(
            _("No section has exactly these words. Without quotation marks, some may be found.")
        )
    return hints

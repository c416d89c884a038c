"""Documents in both languages with as many sections as wanted, and queries for them.

    python -m benchmarks.search_texts SECTIONS OUTPUT [FOLDER]

Natural text, if a folder with manuals is given: web pages, manual pages, Markdown and plain text
below it. Otherwise sentences are made up from words as frequent as in natural text (the n-th word
1/n times as often as the first). When there are too few documents, they are repeated with every
tenth word exchanged for another one of theirs, so that frequencies stay what they are.
"""

import gzip
import itertools
import json
import os
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")
import django

django.setup()

from indexing.lexical.analysis import is_japanese, language_of, spans_of  # noqa: E402
from indexing.sections.limits import limits  # noqa: E402
from indexing.sections.split import split  # noqa: E402
from projects.intake.convert.html import to_markdown  # noqa: E402
from projects.intake.encoding import CONTROL  # noqa: E402

QUERIES_OF_A_KIND = 200
SHORT, LONG = (2, 3), (12, 20)
EXCHANGED = 0.1
LEAST_CHARACTERS = 500
PARTICLES = ("の", "の", "を", "に", "は", "が", "で", "と", "します、", "して", "から", "まで")
# Of a tree with translations only these are read.
LANGUAGES = re.compile(r"/(?!en-US|ja-JP)[a-z]{2}-[A-Z]{2}/|\.(?!en|ja)[a-z]{2}(-[a-z]{2})?\.html$")
WORDS = re.compile(r"[A-Za-z]{4,}|[\u4e00-\u9fff\u30a0-\u30ff]{2,}")
QUERY_SIGNS = re.compile(r"[-\"“”「」『』*]+")
ROFF = (
    (re.compile(r'^[.\']\\".*$|^[.\']\s*(?:TH|ig|de|so|ds|nr|if|ie|el|fi|nf|ad|na).*$', re.M), ""),
    (re.compile(r'^\.S[Hh]\s+"?(.*?)"?$', re.M), r"\n## \1\n"),
    (re.compile(r'^\.S[Ss]\s+"?(.*?)"?$', re.M), r"\n### \1\n"),
    (re.compile(r"^\.(?:PP|P|LP|TP|IP|HP|Pp|It|sp|br)\b.*$", re.M), ""),
    (re.compile(r"^\.[A-Za-z]{1,3}\s?", re.M), ""),
    (re.compile(r"\\f(?:\(..|\[[^\]]*\]|.)|\\[&/,|^%:]|\\s[-+]?\d|\\\*(?:\(..|.)"), ""),
    (re.compile(r"\\(?:\(..|e|.)"), "-"),
)


def natural(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or LANGUAGES.search(str(path)):
            continue
        try:
            text = _read(path)
        except (UnicodeDecodeError, OSError):
            continue
        if len(text) > LEAST_CHARACTERS and not CONTROL.search(text):
            yield text


def _read(path: Path) -> str:
    if path.suffix == ".html":
        return to_markdown(path.read_text())
    if path.suffix in (".md", ".txt"):
        return path.read_text()
    if path.suffix == ".gz" and re.search(r"\.[1-8]$", path.stem):
        return _manual_page(path.stem, gzip.decompress(path.read_bytes()).decode())
    return ""


def _manual_page(name: str, roff: str) -> str:
    for pattern, instead in ROFF:
        roff = pattern.sub(instead, roff)
    return f"# {name}\n\n{roff}"


def made_up(count: int) -> Iterator[str]:
    chance = random.Random(3)
    tongues = [_vocabulary(chance, japanese=japanese) for japanese in (False, True)]
    for n in range(count):
        words, weights = tongues[n % 2]
        yield _made_up(chance, words, weights, japanese=bool(n % 2))


def _vocabulary(chance: random.Random, *, japanese: bool) -> tuple[list[str], list[float]]:
    if japanese:
        signs = "水力電気発送配変圧器機械回転速度計測定点検査修理保全安運用海流潮位港湾船舶航路灯台"
        pairs = ["".join(pair) for pair in itertools.permutations(dict.fromkeys(signs), 2)]
        words = [pair + chance.choice(PARTICLES) for pair in chance.sample(pairs, len(pairs))]
    else:
        parts = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "ar", "en")]
        words = re.findall(r"\w+", "the of to and a in is it for on with as be that by or from not")
        words += ["".join(chance.choices(parts, k=chance.randint(2, 4))) for _ in range(20_000)]
    # Added up once, or each choice would do it.
    weights = itertools.accumulate(1 / (place + 2) for place in range(len(words)))
    return words, list(weights)


def _made_up(
    chance: random.Random, words: list[str], weights: list[float], *, japanese: bool
) -> str:
    joint, stop = ("", "。") if japanese else (" ", ". ")

    def some(least: int, most: int) -> str:
        return joint.join(chance.choices(words, cum_weights=weights, k=chance.randint(least, most)))

    parts = [f"# {some(2, 4)}\n"]
    for _section in range(chance.randint(4, 16)):
        parts.append(f"\n## {some(2, 5)}\n\n")
        for _paragraph in range(chance.randint(1, 3)):
            sentences = (some(8, 24) for _ in range(chance.randint(2, 5)))
            parts.append(stop.join(sentences) + stop.strip() + "\n\n")
    return "".join(parts)


def _varied(text: str, pools: dict[bool, list[str]], chance: random.Random) -> str:
    def other(found: re.Match[str]) -> str:
        if chance.random() > EXCHANGED:
            return found[0]
        return chance.choice(pools[is_japanese(found[0])])

    return WORDS.sub(other, text)


def write(sections: int, output: Path, folder: Path | None) -> None:
    """A document a line, in an order that mixes languages and sources; then the queries."""
    chance = random.Random(5)
    texts = list(natural(folder)) if folder else list(made_up(1000))
    if not texts:
        raise SystemExit(f"There are no manuals below {folder}.")
    chance.shuffle(texts)
    counts = [len(split(text, limits=limits())) for text in texts]
    pools: dict[bool, list[str]] = {True: [], False: []}
    for text in texts:
        for word in WORDS.findall(text):
            pools[is_japanese(word)].append(word)
    total = 0
    with (output / "documents").open("w") as documents:
        for n in itertools.count():
            place = n % len(texts)
            text = texts[place] if n < len(texts) else _varied(texts[place], pools, chance)
            line = {"path": f"{n:06}.md", "content": text, "sections": counts[place]}
            documents.write(json.dumps(line, ensure_ascii=False) + "\n")
            total += counts[place]
            if total >= sections:
                break
    (output / "queries").write_text(json.dumps(_queries(texts, chance)))
    print(f"{len(texts)} documents of {sum(counts)} sections, {sum(map(len, texts))} characters")


def _queries(texts: list[str], chance: random.Random) -> dict[str, list[str]]:
    queries: dict[str, list[str]] = {}
    for language in ("en", "ja"):
        mine = [text for text in texts if language_of(text) == language]
        for kind, lengths in (("short", SHORT), ("long", LONG)):
            made = (_query(chance.choice(mine), chance, lengths) for _ in itertools.count())
            wanted = itertools.islice(filter(None, made), QUERIES_OF_A_KIND)
            queries[f"{kind} {language}"] = list(wanted)
    return queries


def _query(text: str, chance: random.Random, lengths: tuple[int, int]) -> str:
    """A few telling words of one paragraph, or a stretch of it."""
    paragraph = chance.choice(text.split("\n\n"))
    count = chance.randint(*lengths)
    if lengths == SHORT:
        words = list(dict.fromkeys(WORDS.findall(paragraph)))
        return " ".join(chance.sample(words, count)) if len(words) > 10 else ""
    spans = list(spans_of(paragraph))
    if len(spans) < count:
        return ""
    first = chance.randrange(len(spans) - count + 1)
    stretch = paragraph[spans[first].start : spans[first + count - 1].end]
    return " ".join(QUERY_SIGNS.sub(" ", stretch).split())


if __name__ == "__main__":
    most, target, *source = sys.argv[1:]
    write(int(most), Path(target), Path(source[0]) if source else None)

"""Makes the judged sets of Debian's manuals, English and Japanese.

    python -m benchmarks.judged.debian DIR

Downloads the packages with `apt-get` (Debian bookworm; nothing is installed) and writes
DIR/debian-en and DIR/debian-ja. Both languages have the same sections under the same numbers, so
one list of judgements (judgements.tsv beside this file) serves both; the queries (topics.tsv) are
not translations of each other word by word. docs/benchmarks.md tells how they were made.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.judged.sets import DOCUMENTS, Judgements, Query, read_rows, save

HERE = Path(__file__).resolve().parent
_HANDBOOK = "usr/share/doc/debian-handbook/html"
# Package and folder of each manual, by language.
MANUALS = {
    "en": {
        "handbook": ("debian-handbook", f"{_HANDBOOK}/en-US"),
        "reference": ("debian-reference-en", "usr/share/debian-reference"),
        "maint-guide": ("maint-guide", "usr/share/doc/maint-guide/html"),
        "developers-reference": ("developers-reference", "usr/share/developers-reference"),
        "faq": ("debian-faq", "usr/share/doc/debian/FAQ"),
    },
    "ja": {
        "handbook": ("debian-handbook", f"{_HANDBOOK}/ja-JP"),
        "reference": ("debian-reference-ja", "usr/share/debian-reference"),
        "maint-guide": ("maint-guide-ja", "usr/share/doc/maint-guide-ja/html"),
        "developers-reference": (
            "developers-reference-ja",
            "usr/share/developers-reference/ja",
        ),
        "faq": ("debian-faq-ja", "usr/share/doc/debian/FAQ/ja"),
    },
}
# Tables of contents, a page for searching, and one page with everything once more.
LEFT_OUT = {"index.html", "search.html", "developers-reference.html"}
_LANGUAGE = re.compile(r"\.(en|ja)\.html$")


def unpack(packages: set[str], folder: Path) -> None:
    """Each into a folder of its name."""
    subprocess.run(["apt-get", "download", *sorted(packages)], cwd=folder, check=True)
    for archive in folder.glob("*.deb"):
        name = archive.name.partition("_")[0]
        subprocess.run(["dpkg", "-x", archive, folder / name], check=True)


def copy_manuals(unpacked: Path, language: str, documents: Path) -> None:
    for manual, (package, place) in MANUALS[language].items():
        (documents / manual).mkdir(parents=True)
        for page in sorted((unpacked / package / place).glob("*.html")):
            name = _LANGUAGE.sub(".html", page.name)
            if name not in LEFT_OUT:
                shutil.copy(page, documents / manual / name)


def judgements() -> Judgements:
    found: Judgements = {}
    for topic, answer, grade in read_rows(HERE / "judgements.tsv"):
        found.setdefault(topic, {})[answer] = int(grade)
    return found


def main() -> None:
    target = Path(sys.argv[1])
    judged = judgements()
    topics = read_rows(HERE / "topics.tsv")[1:]
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder)
        unpack({package for each in MANUALS.values() for package, _ in each.values()}, unpacked)
        for language, column in (("en", 2), ("ja", 3)):
            place = target / f"debian-{language}"
            copy_manuals(unpacked, language, place / DOCUMENTS)
            save(place, (Query(row[0], row[1], row[column]) for row in topics), judged)
            print(place)


if __name__ == "__main__":
    main()

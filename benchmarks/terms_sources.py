"""Documentation with an official glossary, out of public repositories, as Markdown.

A repository is fetched at one commit into a folder given, as `owner+name`; one that is there
already (a bare copy, or a folder `repo` in it) is used as it is. Nothing of it is kept elsewhere.
"""

import html
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from projects.intake.convert.rst import convert as rst_to_markdown

JAPANESE = re.compile("[ぁ-んァ-ヶ一-龥]")


@dataclass(frozen=True)
class Repository:
    name: str
    commit: str

    def at(self, folder: Path) -> "Files":
        place = folder / self.name.replace("/", "+")
        for there in (place / "repo", place):
            if (there / "HEAD").exists() or (there / ".git").exists():
                return Files(there, self.commit)
        place.mkdir(parents=True)
        _git(place, "init", "--quiet", "--bare")
        url = f"https://github.com/{self.name}.git"
        _git(place, "fetch", "--quiet", "--depth", "1", url, self.commit)
        return Files(place, self.commit)


@dataclass(frozen=True)
class Files:
    folder: Path
    commit: str

    def names(self, pattern: str, but: str = r"(?!)") -> list[str]:
        listed = _git(self.folder, "ls-tree", "-r", "-z", "--name-only", self.commit).split("\0")
        wanted, unwanted = re.compile(pattern), re.compile(but)
        return [name for name in listed if wanted.search(name) and not unwanted.search(name)]

    def text(self, name: str) -> str:
        return _git(self.folder, "show", f"{self.commit}:{name}")


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "core.quotepath=off", *arguments]
    done = subprocess.run(command, check=True, capture_output=True)
    return done.stdout.decode(errors="replace")


def mdn(text: str) -> str:
    """What a macro shows: its last argument, as code. Those of terms are left to the engine."""

    def shown(macro: re.Match[str]) -> str:
        if macro[1].lower() == "glossary":
            return macro[0]
        given = [one or other for one, other in re.findall(r"\"([^\"]*)\"|'([^']*)'", macro[2])]
        return f"`{given[-1] if given else ''}`"

    return re.sub(r"\{\{\s*(\w+)\((.*?)\)\s*\}\}", shown, text)


def rst(text: str) -> str:
    return rst_to_markdown(text.encode())


def rst_inline(text: str) -> str:
    """The roles of a translated string, where there is no whole file to convert."""
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    text = re.sub(r":term:`!?([^`<]+?)\s*(?:<[^`>]*>)?`", r"[\1](term:)", text)
    text = re.sub(r":[\w:+-]+:`([^`<]+?)\s*<[^`>]*>`", r"\1", text)
    text = re.sub(r":(?:ref|doc|dfn|abbr|program|pep|rfc):`!?([^`]+)`", r"\1", text)
    text = re.sub(r":[\w:+-]+:`[!~]?([^`]+)`", r"`\1`", text)
    text = re.sub(r"`([^`<]+?)\s*<[^`>]*>`_+", r"\1", text)
    return text.replace("\\ ", "")


def asciidoc(text: str) -> str:
    text = re.sub(r"^(-{4,}|\.{4,})\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\[\[[^\]]*\]\]", "", text)
    text = re.sub(r"<<[^,>]*,([^>]*)>>", r"\1", text)
    text = re.sub(r"linkgit:([\w-]+)\[\d\]", r"`\1`", text)
    return re.sub(r"^=+ (.*)$", r"## \1", text, flags=re.MULTILINE)


def docbook(text: str) -> str:
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    silent = r"<(programlisting|screen|synopsis|indexterm|cmdsynopsis)\b.*?</\1>"
    text = re.sub(silent, "\n\n", text, flags=re.DOTALL)
    code = (
        "literal|function|command|filename|varname|option|structfield|structname|type|symbol|envar"
    )
    text = re.sub(rf"<(?:{code}|replaceable|parameter)\b[^>]*>([^<]*)</\w+>", r"`\1`", text)
    text = re.sub(r"<emphasis[^>]*>([^<]*)</\w+>", r"*\1*", text)
    # As our converter makes them of the pages that are made of these.
    text = re.sub(r"<firstterm[^>]*>([^<\[\]]*)</\w+>", r"[\1](term:new)", text)
    text = re.sub(r"<glossterm[^>]*>([^<\[\]]*)</\w+>", r"[\1](term:)", text)
    text = re.sub(r"<title>(.*?)</title>", _heading, text, flags=re.DOTALL)
    blocks = r"</?(?:para|listitem|varlistentry|entry|row|sect\d|chapter|note|term)\b[^>]*>"
    text = re.sub(r"<[^>]+>", "", re.sub(blocks, "\n\n", text))
    return html.unescape(re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE))


def _heading(title: re.Match[str]) -> str:
    return "\n\n## " + " ".join(title[1].split()) + "\n\n"


def translations(catalogue: str) -> Iterator[tuple[str, str, str]]:
    """Comment, original and translation of each translated string that is not fuzzy."""
    for entry in re.split(r"\n\n+", catalogue):
        found = re.search(r'^msgid ((?:".*"\n)+)msgstr ((?:".*"\n?)+)', entry + "\n", re.MULTILINE)
        if not found or "#, fuzzy" in entry:
            continue
        original, translated = (
            "".join(json.loads(line, strict=False) for line in re.findall(r'".*"', part))
            for part in found.groups()
        )
        if original:
            yield entry[: found.start()], original, translated


def glossary_directive(text: str) -> list[str]:
    """The terms of the `glossary` directives of a reStructuredText file."""
    terms: list[str] = []
    indent = -1
    inside = False
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip())
        if line.strip().startswith(".. glossary::"):
            inside, indent = True, -1
        elif inside and line.strip():
            if depth == 0:
                inside = False
            elif line.strip().startswith((":", "..")) and indent < 0:
                continue
            else:
                indent = depth if indent < 0 else indent
                if depth == indent and not line.strip().startswith(".."):
                    terms.append(line.strip().replace("``", "").strip("`"))
    return terms

"""The words that models are asked in: a file for each step and language.

A file begins with a line that tells its version. Its parts begin with a line such as `[system]`;
`$name` stands for what is put in. Whoever changes a text raises its version: entries keep the
version they were written with, and a test knows the digest of each.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from glossary_site.llm.prompts import RULE
from glossary_site.llm.requests import Message

FOLDER = Path(__file__).parent
LANGUAGES = ("en", "ja")
STEPS = ("extract", "generate", "review", "refine")

_VERSION = re.compile(r"version: (\d+)\n")
_PART = re.compile(r"^\[(\w+)\]\n", re.MULTILINE)


@dataclass(frozen=True)
class Prompt:
    step: str
    language: str
    number: int
    parts: Mapping[str, Template]

    @property
    def version(self) -> str:
        """As it is kept with what came of it, such as generate/3:ja."""
        return f"{self.step}/{self.number}:{self.language}"

    def part(self, name: str, /, **values: str) -> str:
        """With everything put in. A value that is missing is a mistake, and raises."""
        return self.parts[name].substitute(values)

    def messages(self, **values: str) -> list[Message]:
        return [
            {"role": "system", "content": self.part("system", rule=RULE)},
            {"role": "user", "content": self.part("user", **values)},
        ]


def path_of(step: str, language: str) -> Path:
    return FOLDER / f"{step}.{language}.txt"


@cache
def prompt_for(step: str, language: str) -> Prompt:
    text = path_of(step, language).read_text(encoding="utf-8")
    version = _VERSION.match(text)
    if version is None:
        raise ValueError(f"The prompt {step}.{language} has no version")
    _, *pieces = _PART.split(text)
    parts = zip(pieces[::2], pieces[1::2], strict=True)
    return Prompt(
        step=step,
        language=language,
        number=int(version[1]),
        parts={name: Template(words.strip()) for name, words in parts},
    )

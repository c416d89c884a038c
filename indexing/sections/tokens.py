"""How many tokens a text has: exactly, offline, in time that grows with its length and no faster.

The vocabulary is o200k_base, in which Japanese takes about as many tokens as English for the same
thing said. Embedders with one of their own count a little differently.
"""

from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Protocol, cast

ENCODING = "o200k_base"
# No token of the vocabulary is longer, so a text of more than n times this has more than n tokens.
LONGEST_TOKEN = 128
PACKAGE = "bpe_openai"


class Tokenizer(Protocol):
    def count(self, text: str) -> int: ...
    def count_till_limit(self, text: str, token_limit: int) -> int | None: ...


def count_tokens(text: str) -> int:
    return _tokenizer().count(text)


def count_within(text: str, limit: int) -> int | None:
    """The number of tokens, or None when there are more than `limit`: known early."""
    if len(text) > limit * LONGEST_TOKEN:
        return None
    return _tokenizer().count_till_limit(text, limit)


@cache
def _tokenizer() -> Tokenizer:
    """The compiled part of the package alone, by the process that first counts something.

    The package reads three vocabularies when it is imported, for functions that are not used
    here: ten times the time and twice the memory.
    """
    package = find_spec(PACKAGE)
    places = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec(f"{PACKAGE}._bindings", places)
    if spec is None or spec.loader is None:
        raise ImportError(f"The package {PACKAGE} is not installed.")
    bindings = module_from_spec(spec)
    spec.loader.exec_module(bindings)
    return cast(Tokenizer, bindings.tokenizer_for_encoding(ENCODING))

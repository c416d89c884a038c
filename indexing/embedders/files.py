"""The files that a package carries. It is never imported: its code would ask for more packages, or
for the network."""

import importlib.util
import os
from pathlib import Path

from tokenizers import Tokenizer


def folder_of(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places))) if places else None


def load_tokenizer(path: Path) -> Tokenizer:
    """One thread: there are as many workers as cores, and a process that forks after a tokenizer
    has used threads is warned about, and may hang."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer

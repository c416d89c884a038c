"""The answer of `git ls-remote --symref`: the branches, and which of them is the default one."""

import re
from collections.abc import Iterable, Mapping

from collection.models.commit import BRANCH_LENGTH
from collection.origins.data import Heads

SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
BRANCHES = "refs/heads/"
# What git itself does not allow in a name. A host that lies could make something else of it.
IMPOSSIBLE = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|^[-./]|[/.]$|^@$|^HEAD$"
)
# Where nothing says which branch is meant, these are.
USUAL = ("main", "master")


def read_heads(lines: Iterable[bytes], *, shallow: bool) -> Heads:
    branches: dict[str, str] = {}
    default = at = ""
    for raw in lines:
        try:
            what, _tab, name = raw.decode().partition("\t")
        except UnicodeDecodeError:
            continue  # a name that nobody can type or store
        if name == "HEAD" and what.startswith(f"ref: {BRANCHES}"):
            default = what.removeprefix(f"ref: {BRANCHES}")
        elif name == "HEAD":
            at = what
        elif name.startswith(BRANCHES) and SHA.fullmatch(what):
            branch = name.removeprefix(BRANCHES)
            if len(branch) <= BRANCH_LENGTH and not IMPOSSIBLE.search(branch):
                branches[branch] = what
    if default not in branches:
        default = _guess(branches, at)
    return Heads(branches=branches, default=default, shallow=shallow)


def _guess(branches: Mapping[str, str], at: str) -> str:
    """Of a host that names a commit and no branch: the one that is there, if it is clear."""
    there = [name for name, sha in branches.items() if sha == at]
    usual = [name for name in USUAL if name in there]
    if usual:
        return usual[0]
    return there[0] if len(there) == 1 else ""

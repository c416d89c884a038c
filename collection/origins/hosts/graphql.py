"""What GitHub is asked in GraphQL: many commits, or the commits of many files, in one request."""

from collections.abc import Mapping, Sequence
from typing import Any

from collection.origins.data import OriginProblem
from collection.origins.hosts import reading, words

COMMITS_AT_ONCE = 100
PATHS_AT_ONCE = 20

COMMIT = "oid message committedDate additions deletions author{name email}"


def commits_question(owner: str, name: str, shas: Sequence[str]) -> dict[str, Any]:
    asked = " ".join(
        f'c{number}:object(oid:"{sha}"){{...on Commit{{{COMMIT}}}}}'
        for number, sha in enumerate(shas)
    )
    return _question(owner, name, asked)


def paths_question(
    owner: str, name: str, head: str, paths: Sequence[str], *, each: int
) -> dict[str, Any]:
    """The paths go beside the question: what they contain is nobody's grammar."""
    asked = " ".join(
        f"c{number}:history(first:{each},path:$p{number}){{nodes{{oid}}}}"
        for number in range(len(paths))
    )
    return _question(
        owner,
        name,
        f'at:object(oid:"{head}"){{...on Commit{{{asked}}}}}',
        {f"p{number}": path for number, path in enumerate(paths)},
    )


def _question(
    owner: str, name: str, asked: str, more: Mapping[str, str] | None = None
) -> dict[str, Any]:
    variables = {"owner": owner, "name": name, **(more or {})}
    declared = ",".join(f"${variable}:String!" for variable in variables)
    query = f"query({declared}){{repository(owner:$owner,name:$name){{{asked}}}}}"
    return {"query": query, "variables": variables}


def answered(answer: Any, *, host: str, project: str, right: str) -> Mapping[str, Any]:
    """The repository in an answer; errors come with status 200."""
    answer = reading.table(answer)
    if answer.get("errors"):
        raise _problem(answer["errors"], host=host, project=project, right=right)
    return reading.inner(answer, "data", "repository")


def _problem(errors: Any, *, host: str, project: str, right: str) -> OriginProblem:
    kinds = {reading.table(error).get("type") for error in reading.rows(errors)}
    if "RATE_LIMITED" in kinds:
        return words.busy(host, 60)
    if "NOT_FOUND" in kinds:
        return words.not_found(host, project, token=True)
    if kinds & {"FORBIDDEN", "INSUFFICIENT_SCOPES"}:
        return words.forbidden(host, right, token=True)
    # Mostly it took too long: GitHub gives a question ten seconds.
    return words.broken(host, 200)

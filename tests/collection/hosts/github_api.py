"""The part of GitHub's REST and GraphQL APIs that repositories are read with, as its manual has it;
at the addresses of an Enterprise server."""

import json
import re
from datetime import datetime
from typing import Any

from tests.collection.hosts.answers import Asked, Host, Reply, as_json, link, page_of, raw
from tests.collection.hosts.git import Row

PROJECT = re.compile(r"/api/v3/(?:repos/([^/]+/[^/]+)|repositories/(\d+))(/.*)?")
COMMIT = re.compile(r'(c\d+):object\(oid:"([0-9a-f]+)"\)')
TOUCHES = re.compile(r"(c\d+):history\(first:(\d+),path:\$(p\d+)\)")
MOST_FILES = 300


def answer(host: Host, asked: Asked) -> Reply:
    shown = asked.headers.get("Authorization", "").removeprefix("Bearer ")
    if shown and shown != host.token:
        return as_json({"message": "Bad credentials", "status": "401"}, 401)
    if asked.path == "/api/graphql":
        return _graphql(host, asked) if shown else as_json({"message": "Requires login"}, 401)
    found = PROJECT.fullmatch(asked.path)
    if found is None or (host.token and not shown):
        return _missing()
    way = found[3] or ""
    if found[1] in host.former:
        place = f"{host.origin}/api/v3/repositories/{host.number}{way}"
        told = {"message": "Moved Permanently", "url": place}
        return as_json(told, 301, Location=place)
    if found[1] != host.project and found[2] != str(host.number):
        return _missing()
    return _project(host, asked, way)


def _missing(message: str = "Not Found", status: int = 404) -> Reply:
    return as_json({"message": message, "status": str(status)}, status)


def _project(host: Host, asked: Asked, way: str) -> Reply:
    match way.split("/")[1:]:
        case []:
            name = host.repository.run("symbolic-ref", "--short", "HEAD").strip()
            return as_json(
                {
                    "id": host.number,
                    "full_name": host.project,
                    "default_branch": name,
                    "archived": False,
                    "html_url": f"{host.origin}/{host.project}",
                }
            )
        case ["branches"]:
            branches = sorted(host.repository.branches().items())
            return _paged(
                host, asked, [{"name": name, "commit": {"sha": sha}} for name, sha in branches]
            )
        case ["commits"]:
            return _commits(host, asked)
        case ["commits", sha]:
            if not host.knows(sha):
                return _missing(f"No commit found for SHA: {sha}", 422)
            return as_json(_commit(host.repository.show([sha])[0], stats=True))
        case ["compare", names]:
            return _compare(host, asked, *names.split("..."))
        case ["git", "trees", sha]:
            return _tree(host, sha, recursive=bool(asked.get("recursive")))
        case ["git", "blobs", sha]:
            return raw(host.repository.raw("cat-file", "blob", sha))
        case ["contents", *parts]:
            return _contents(host, asked.get("ref"), "/".join(parts))
    return _missing()


def _paged(host: Host, asked: Asked, rows: list[Any]) -> Reply:
    some, number, last = page_of(host, asked, rows)
    if number >= last:
        return as_json(some)
    following = link(host, asked, "next", page=str(number + 1))
    return as_json(some, Link=f"{following}, {link(host, asked, 'last', page=str(last))}")


def _commits(host: Host, asked: Asked) -> Reply:
    if not host.repository.has_commits():
        return _missing("Git Repository is empty.", 409)
    if not host.knows(asked.get("sha")):
        return _missing()
    # By date, whatever stands on whatever.
    wish = [asked.get("sha")]
    if since := asked.get("since"):
        wish.insert(0, f"--since={since}")
    if path := asked.get("path"):
        wish += ["--", path]
    shas = host.repository.reachable(*wish)
    some, _, _ = page_of(host, asked, shas)
    reply = _paged(host, asked, shas)
    rows = [_commit(row, stats=False) for row in host.repository.show(some)]
    return Reply(200, json.dumps(rows).encode(), reply.headers)


def _commit(row: Row, *, stats: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "sha": row.sha,
        "commit": {
            "author": {"name": row.name, "email": row.email, "date": row.date},
            "committer": {"name": "GitHub", "email": "noreply@github.com", "date": row.date},
            "message": row.message,
        },
        "parents": [{"sha": parent} for parent in row.parents],
    }
    if stats:
        told["stats"] = {
            "additions": row.additions,
            "deletions": row.deletions,
            "total": row.additions + row.deletions,
        }
    return told


def _compare(host: Host, asked: Asked, old: str, new: str) -> Reply:
    if not host.knows(old, new):
        return _missing()
    if not set(host.repository.reachable(old)) & set(host.repository.reachable(new)):
        return _missing(f"No common ancestor between {old} and {new}.")
    ahead = host.repository.reachable(f"{old}..{new}")
    behind = host.repository.reachable(f"{new}..{old}")
    some, number, _ = page_of(host, asked, ahead[::-1])
    status = (
        "diverged"
        if ahead and behind
        else "ahead"
        if ahead
        else "behind"
        if behind
        else "identical"
    )
    told: dict[str, Any] = {
        "status": status,
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [_commit(row, stats=False) for row in host.repository.show(some)],
    }
    if number == 1:  # the files are on the first page
        told["files"] = [_changed(*row) for row in host.repository.diff(old, new)[:MOST_FILES]]
    return as_json(told)


def _changed(status: str, before: str, after: str) -> dict[str, Any]:
    words = {"A": "added", "M": "modified", "D": "removed", "R": "renamed"}
    told = {"filename": after, "status": words[status]}
    return {**told, "previous_filename": before} if status == "R" else told


def _tree(host: Host, name: str, *, recursive: bool) -> Reply:
    entries = [
        {"path": path, "mode": mode, "type": kind, "sha": sha}
        | ({"size": size} if kind == "blob" else {})
        for mode, kind, sha, path, size in host.repository.tree(name)
        if recursive or "/" not in path
    ]
    cut = len(entries) > host.tree_limit
    return as_json(
        {"sha": name, "tree": entries[: host.tree_limit], "truncated": cut and recursive}
        if recursive
        else {"sha": name, "tree": entries, "truncated": False}
    )


def _contents(host: Host, name: str, path: str) -> Reply:
    for _mode, kind, sha, each, _size in host.repository.tree(name):
        if each == path and kind == "blob":
            return raw(host.repository.raw("cat-file", "blob", sha))
    return _missing()


def _graphql(host: Host, asked: Asked) -> Reply:
    told = json.loads(asked.body)
    query, variables = told["query"], told["variables"]
    if f"{variables['owner']}/{variables['name']}" not in (host.project, *host.former):
        error = {"type": "NOT_FOUND", "message": "Could not resolve to a Repository"}
        return as_json({"data": {"repository": None}, "errors": [error]})
    touches = TOUCHES.findall(query)
    if touches:
        head = re.search(r'at:object\(oid:"([0-9a-f]+)"\)', query)
        assert head is not None
        found = {
            alias: {
                "nodes": [
                    {"oid": sha}
                    for sha in host.repository.reachable(
                        f"--max-count={count}", head[1], "--", variables[path]
                    )
                ]
            }
            for alias, count, path in touches
        }
        return as_json({"data": {"repository": {"at": found}}})
    aliases = COMMIT.findall(query)
    rows = {row.sha: row for row in host.repository.show([sha for _, sha in aliases])}
    return as_json({"data": {"repository": {alias: _node(rows[sha]) for alias, sha in aliases}}})


def _node(row: Row) -> dict[str, Any]:
    date = datetime.fromisoformat(row.date)
    return {
        "oid": row.sha,
        "message": row.message,
        "committedDate": date.isoformat(),
        "additions": row.additions,
        "deletions": row.deletions,
        "author": {"name": row.name, "email": row.email},
    }

"""The part of GitLab's REST API (v4) that repositories are read with, as its manual has it."""

import json
import re
from typing import Any
from urllib.parse import unquote

from tests.collection.hosts.answers import Asked, Host, Reply, as_json, link, page_of, raw
from tests.collection.hosts.git import Row

PROJECT = re.compile(r"/api/v4/projects/([^/]+)(/.*)?")


def answer(host: Host, asked: Asked) -> Reply:
    found = PROJECT.fullmatch(asked.path)
    if found is None:
        return _missing("404 Not Found")
    shown = asked.headers.get("PRIVATE-TOKEN", "")
    if shown and shown != host.token:
        return as_json({"message": "401 Unauthorized"}, 401)
    project, way = unquote(found[1]), found[2] or ""
    if host.token and not shown:
        return _missing("404 Project Not Found")
    if project in host.former:
        # It names itself by http, whatever it was asked by.
        place = f"{host.origin}/api/v4/projects/{host.number}{way}"
        return Reply(301, b"This resource has been moved permanently", {"Location": place})
    if project not in (host.project, str(host.number)):
        return _missing("404 Project Not Found")
    return _project(host, asked, way)


def _missing(message: str) -> Reply:
    return as_json({"message": message}, 404)


def _project(host: Host, asked: Asked, way: str) -> Reply:
    if way == "":
        return as_json(
            {
                "id": host.number,
                "path_with_namespace": host.project,
                "default_branch": _default(host),
                "empty_repo": not host.repository.has_commits(),
                "archived": False,
                "web_url": f"{host.origin}/{host.project}",
            }
        )
    parts = way.removeprefix("/repository/").split("/")
    match parts:
        case ["branches"]:
            return _branches(host, asked)
        case ["commits"]:
            return _commits(host, asked)
        case ["commits", sha]:
            if not host.knows(sha):
                return _missing("404 Commit Not Found")
            return as_json(_commit(host.repository.show([sha])[0], stats=True))
        case ["merge_base"]:
            return _merge_base(host, asked.all("refs[]"))
        case ["tree"]:
            return _tree(host, asked)
        case ["blobs", sha, "raw"]:
            return raw(host.repository.raw("cat-file", "blob", sha))
        case ["files", path, "raw"]:
            return _file(host, asked.get("ref"), unquote(path))
        case ["compare"]:
            return _compare(host, asked.get("from"), asked.get("to"))
    return _missing("404 Not Found")


def _default(host: Host) -> str | None:
    name = host.repository.run("symbolic-ref", "--short", "HEAD").strip()
    return name if name in host.repository.branches() else None


def _branches(host: Host, asked: Asked) -> Reply:
    default = _default(host)
    rows: list[dict[str, Any]] = [
        {"name": name, "default": name == default, "commit": {"id": sha}}
        for name, sha in sorted(host.repository.branches().items())
    ]
    if asked.get("pagination") != "keyset":
        return _offset(host, asked, rows)
    size = int(asked.get("per_page", "20"))
    behind = asked.get("page_token")
    rows = [row for row in rows if row["name"] > behind]
    if len(rows) <= size:
        return as_json(rows)
    following = link(host, asked, "next", page_token=rows[size - 1]["name"])
    return as_json(rows[:size], Link=following)


def _offset(host: Host, asked: Asked, rows: list[Any]) -> Reply:
    some, number, last = page_of(host, asked, rows)
    links = [link(host, asked, "first", page="1")]
    if number < last:
        links.insert(0, link(host, asked, "next", page=str(number + 1)))
    return as_json(
        some,
        Link=", ".join(links),
        X_Page=str(number),
        X_Per_Page=asked.get("per_page", "20"),
        X_Next_Page=str(number + 1) if number < last else "",
    )


def _commits(host: Host, asked: Asked) -> Reply:
    name = asked.get("ref_name")
    if not host.knows(*name.split("..")):
        return as_json([], X_Next_Page="")  # it does not tell an unknown commit from an empty range
    wish = ["--topo-order" if asked.get("order") == "topo" else "--date-order"]
    if since := asked.get("since"):
        wish.append(f"--since={since}")
    wish.append(name)
    if path := asked.get("path"):
        wish += ["--", path]
    shas = host.repository.reachable(*wish)
    some, _, _ = page_of(host, asked, shas)
    stats = asked.get("with_stats") == "true"
    rows = [_commit(row, stats=stats) for row in host.repository.show(some)]
    reply = _offset(host, asked, shas)
    return Reply(200, json.dumps(rows).encode(), reply.headers)


def _commit(row: Row, *, stats: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": row.sha,
        "short_id": row.sha[:8],
        "title": row.message.partition("\n")[0],
        "message": row.message,
        "author_name": row.name,
        "author_email": row.email,
        "committed_date": row.date,
        "parent_ids": row.parents,
    }
    if stats:
        told["stats"] = {
            "additions": row.additions,
            "deletions": row.deletions,
            "total": row.additions + row.deletions,
        }
    return told


def _merge_base(host: Host, refs: list[str]) -> Reply:
    unknown = [ref for ref in refs if not host.knows(ref)]
    if unknown:
        return as_json({"message": f"Could not find ref: {', '.join(unknown)}"}, 400)
    common = host.repository.run("rev-list", "--max-count=1", *_common(host, refs)).split()
    if not common:
        return _missing("404 Merge Base Not Found")
    return as_json(_commit(host.repository.show(common)[0], stats=False))


def _common(host: Host, refs: list[str]) -> list[str]:
    shared = set(host.repository.reachable(refs[0])) & set(host.repository.reachable(refs[1]))
    best = [sha for sha in host.repository.reachable(*refs, "--topo-order") if sha in shared]
    return best[:1] or ["--not", *refs]


def _tree(host: Host, asked: Asked) -> Reply:
    entries = host.repository.tree(asked.get("ref"))
    if not entries:
        return _missing("404 Tree Not Found")
    rows = [
        {"id": sha, "name": path.rpartition("/")[2], "type": kind, "path": path, "mode": mode}
        for mode, kind, sha, path, _ in entries
    ]
    size = int(asked.get("per_page", "20"))
    start = int(asked.get("page_token", "0"))
    if len(rows) <= start + size:
        return as_json(rows[start:])
    return as_json(
        rows[start : start + size], Link=link(host, asked, "next", page_token=str(start + size))
    )


def _file(host: Host, name: str, path: str) -> Reply:
    for _mode, kind, sha, each, _size in host.repository.tree(name):
        if each == path and kind == "blob":
            return raw(host.repository.raw("cat-file", "blob", sha))
    return _missing("404 File Not Found")


def _compare(host: Host, old: str, new: str) -> Reply:
    if not host.knows(old, new):
        return _missing("404 Ref Not Found")
    return as_json(
        {
            "compare_timeout": False,
            "diffs": [
                {
                    "diff": "@@",
                    "old_path": before,
                    "new_path": after,
                    "new_file": status == "A",
                    "renamed_file": status == "R",
                    "deleted_file": status == "D",
                }
                for status, before, after in host.repository.diff(old, new)
            ],
        }
    )

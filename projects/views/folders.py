"""The folders above a document."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Folder:
    """A step of the breadcrumb: its name, and what to filter the list by."""

    name: str
    path: str


def folders_of(path: str) -> list[Folder]:
    parts = path.split("/")[:-1]
    return [Folder(name, "/".join(parts[: i + 1]) + "/") for i, name in enumerate(parts)]

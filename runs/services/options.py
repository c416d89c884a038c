"""What a run was asked to do beyond its scope, as it is kept with the run."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True)
class RunOptions:
    # At most so many terms get an entry; 0: as many as the documents are worth.
    limit: int = 0
    # Keys of the terms that get a new definition; the others are taken from the base. None: all.
    only: tuple[str, ...] | None = None
    # It asks a provider that a command named for itself: nobody else can go on with it.
    own_provider: bool = False

    def to_json(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if value not in (0, None)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        only = data.get("only")
        return cls(
            limit=int(data.get("limit", 0)),
            only=None if only is None else tuple(only),
            own_provider=bool(data.get("own_provider", False)),
        )

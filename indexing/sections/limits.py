"""How long sections may be."""

from dataclasses import dataclass

from django.conf import settings

# Any character, with the accents and joiners that belong to it, is a part of its own if need be.
SMALLEST_MAX = 16


@dataclass(frozen=True)
class Limits:
    """In tokens: no part has more than `max_tokens`, and what has fewer than `min_tokens` is put
    together with a neighbour. Parts of one section share `overlap_tokens` at most."""

    max_tokens: int
    overlap_tokens: int
    min_tokens: int

    def __post_init__(self) -> None:
        if self.max_tokens < SMALLEST_MAX:
            raise ValueError(f"max_tokens must be at least {SMALLEST_MAX}, not {self.max_tokens}.")
        # With a larger overlap a part would repeat more than it adds.
        for name in ("overlap_tokens", "min_tokens"):
            value = getattr(self, name)
            if not 0 <= value <= self.max_tokens // 2:
                raise ValueError(
                    f"{name} must be from 0 to half of max_tokens ({self.max_tokens}), not {value}."
                )


def limits() -> Limits:
    """As the settings say."""
    return Limits(
        max_tokens=settings.SECTION_MAX_TOKENS,
        overlap_tokens=settings.SECTION_OVERLAP_TOKENS,
        min_tokens=settings.SECTION_MIN_TOKENS,
    )

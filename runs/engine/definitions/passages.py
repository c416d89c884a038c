"""A passage of a document, before it is given to anybody."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    # The document's number in its run, and where in its text the passage begins.
    document: int
    start: int
    line_start: int
    line_end: int
    heading_path: tuple[str, ...]
    # As it stands in the document.
    text: str
    score: float
    pattern: str

    def order(self) -> tuple[float, int, int]:
        """The best first, then as they come."""
        return (-self.score, self.document, self.start)

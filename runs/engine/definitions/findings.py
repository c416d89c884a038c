"""What a pattern finds, and how sure each pattern is.

A score is the share of good definitions among those a pattern gave when they were read and judged,
as near as a sample can tell; what speaks for or against a single sentence moves it a little.
"""

from dataclasses import dataclass

# From here on a definition is offered as one; below, a passage is only an example of use.
STRONG = 0.6
# No pattern is surer than this.
MOST_SURE = 0.95


@dataclass(frozen=True, slots=True)
class Finding:
    """A definition found in a passage."""

    score: float
    # Its name is kept with the context, so that the definition can be read from it again.
    pattern: str


def adjusted(finding: Finding, change: float) -> Finding:
    score = min(MOST_SURE, max(0.0, finding.score + change))
    return Finding(round(score, 2), finding.pattern)

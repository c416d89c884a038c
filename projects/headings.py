"""Anchors that authors give their headings, as site generators read them: `## Quays {#quays}`."""

import re

LONGEST = 200
ANCHOR = re.compile(r"\{:?\s*#([^\s{}#]+)(?:\s[^{}]*)?\}")


def split_anchor(heading: str) -> tuple[str, str]:
    """The words of a heading, and its anchor where it has one: readers do not see that."""
    words = heading.rstrip()
    start = words.rfind("{") if words.endswith("}") else -1
    if start == -1 or len(words) - start > LONGEST:
        return heading, ""
    found = ANCHOR.fullmatch(words, start)
    return (words[:start].rstrip(), found[1]) if found else (heading, "")

"""Headings → sections with parents and numbers."""

from collections import Counter
from dataclasses import dataclass

from indexing.sections.outline import Heading


@dataclass(slots=True)
class Section:
    """A heading with the lines below it, up to the next heading of any level."""

    heading: Heading
    # The position of another section, an earlier one.
    parent: int | None
    number: str
    path: tuple[str, ...]
    # The lines of its text: [first_line, end_line).
    first_line: int
    end_line: int
    is_leaf: bool = True


# What stands before the first heading, as if it had one that cannot be seen.
NO_HEADING = Heading(level=0, text="", start=0, end=0)


def sections_of(headings: list[Heading], line_count: int) -> list[Section]:
    """In the order of the text, the first one without a heading.

    The parent is the nearest heading above that is larger, so a skipped level makes no gap.
    """
    ends = [heading.start for heading in headings] + [line_count]
    sections = [Section(NO_HEADING, None, "", (), first_line=0, end_line=ends[0])]
    # The sections around the next one, outermost first; and how many children each has so far.
    around: list[int] = []
    children: Counter[int | None] = Counter()
    for heading, end in zip(headings, ends[1:], strict=True):
        while around and sections[around[-1]].heading.level >= heading.level:
            around.pop()
        parent = around[-1] if around else None
        children[parent] += 1
        number = str(children[parent])
        path: tuple[str, ...] = (heading.text,) if heading.text else ()
        if parent is not None:
            sections[parent].is_leaf = False
            number = f"{sections[parent].number}.{number}"
            path = sections[parent].path + path
        # A heading that is too long to be one is text as well, so that all of it is found.
        first_line = heading.start if heading.is_cut else heading.end
        around.append(len(sections))
        sections.append(Section(heading, parent, number, path, first_line, end))
    return sections

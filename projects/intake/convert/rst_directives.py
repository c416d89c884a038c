"""What the directives of Sphinx, and any unknown one, turn into: nodes that keep their text."""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive

VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
    "deprecated-removed": "Deprecated since version",
}
LANGUAGE = re.compile(r"[\w+#.-]+\Z")
EXPLICIT_TITLE = re.compile(r"^(.+?)\s*<[^<>]+>$", re.DOTALL)


def shown_title(text: str) -> str:
    """What a reader sees of "Title <target>", "~package.Name" or "!Name"."""
    found = EXPLICIT_TITLE.match(text)
    if found:
        return found[1]
    if text.startswith("~"):
        return text[1:].rpartition(".")[2]
    return text.removeprefix("!")


def _as_written(value: str | None) -> str:
    return value or ""


class AnyOptions(dict[str, Callable[[str], Any]]):
    """The options of a directive that is not known are not known either."""

    def __missing__(self, name: str) -> Callable[[str], Any]:
        return _as_written


class Kept(Directive):
    """Any directive: its argument as a line of its own, then its content."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]] | None] = AnyOptions(name=_as_written)

    @property
    def argument(self) -> str:
        return str(self.arguments[0]) if self.arguments else ""

    def body(self) -> list[nodes.Node]:
        box = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, box)
        return list(box.children)

    def paragraph(self, text: str) -> list[nodes.Node]:
        if not text:
            return []
        return [nodes.paragraph("", "", *self.state.inline_text(text, self.lineno)[0])]

    def run(self) -> list[nodes.Node]:
        return [*self.paragraph(self.argument), *self.body()]


class Silent(Kept):
    """For the machine, not for the reader; or a file that must not be read."""

    def run(self) -> list[nodes.Node]:
        return []


class ContentOnly(Kept):
    def run(self) -> list[nodes.Node]:
        return self.body()


class Code(Kept):
    def run(self) -> list[nodes.Node]:
        takes_language = self.name not in ("math", "productionlist")
        language = self.argument if takes_language and LANGUAGE.match(self.argument) else ""
        lines = list(self.content)
        if self.argument and not language:
            # A formula or a grammar may begin beside the name.
            lines.insert(0, self.argument)
        text = "\n".join(lines)
        caption = self.paragraph(self.options.get("caption", ""))
        if not text:
            return caption
        # Not "language-": docutils takes that for the language of the people.
        block = nodes.literal_block(text, text, classes=[f"highlight-{language}"] * bool(language))
        return [*caption, block]


class Version(Kept):
    def run(self) -> list[nodes.Node]:
        version, more = [*self.argument.split(maxsplit=1), "", ""][:2]
        label = nodes.emphasis("", f"{VERSIONS[self.name.lower()]} {version}".strip())
        head = nodes.paragraph("", "", label)
        if more:
            head += nodes.Text(": ")
            head += self.state.inline_text(more, self.lineno)[0]
        return [head, *self.body()]


class Aside(Kept):
    """See also, to do, and the like: quoted under their own name, as docutils does a note."""

    def run(self) -> list[nodes.Node]:
        label = self.name.replace("seealso", "see also").capitalize()
        head = nodes.paragraph("", "", nodes.strong("", label))
        return [nodes.block_quote("", head, *super().run())]


class Described(Kept):
    """A function, an option, a setting: its signatures, and what they do."""

    def run(self) -> list[nodes.Node]:
        lines = [line.strip() for line in self.argument.split("\n") if line.strip()]
        names = [nodes.literal(line, line) for line in lines]
        body = self.body()
        if not body:
            return [nodes.paragraph("", "", name) for name in names]
        return [definition_list([([[name] for name in names], body)])]


class ClassOrStyle(Described):
    """Sphinx describes a class with it, docutils gives the next paragraph a style."""

    def run(self) -> list[nodes.Node]:
        is_style = re.fullmatch(r"[a-z][a-z0-9 _-]*", self.argument)
        return self.body() if is_style else super().run()


class TocTree(Kept):
    def run(self) -> list[nodes.Node]:
        caption = self.options.get("caption")
        head = [nodes.paragraph("", "", nodes.strong("", caption))] if caption else []
        entries = [line.strip() for line in [self.argument, *self.content] if line.strip()]
        if not entries:
            return list(head)
        items = [nodes.list_item("", nodes.paragraph("", shown_title(e))) for e in entries]
        return [*head, nodes.bullet_list("", *items)]


class Glossary(Kept):
    """Lines at the margin are terms, what is indented below them is their definition."""

    def run(self) -> list[nodes.Node]:
        entries: list[tuple[list[list[nodes.Node]], list[nodes.Node]]] = []
        terms: list[list[nodes.Node]] = []
        index = 0
        while index < len(self.content):
            line = self.content[index]
            end = self._end_of_indented(index + 1)
            if line.strip() and not line.startswith(".. "):
                # Behind the colon stands only a key to sort by.
                term = line.partition(" : ")[0].strip()
                terms.append(list(self.state.inline_text(term, self.lineno)[0]))
                definition = self._parse(index + 1, end)
                if definition:
                    entries.append((terms, definition))
                    terms = []
            index = end
        if terms:
            entries.append((terms, []))
        return [definition_list(entries)] if entries else []

    def _end_of_indented(self, index: int) -> int:
        while index < len(self.content) and self.content[index][:1] in ("", " ", "\t"):
            index += 1
        return index

    def _parse(self, start: int, end: int) -> list[nodes.Node]:
        lines = self.content[start:end]
        indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
        lines.trim_left(min(indents, default=0))
        box = nodes.Element()
        self.state.nested_parse(lines, self.content_offset + start, box)
        return list(box.children)


def definition_list(
    entries: list[tuple[list[list[nodes.Node]], list[nodes.Node]]],
) -> nodes.definition_list:
    """Each entry: its terms (each a list of inline nodes) and the definition they share."""
    return nodes.definition_list(
        "",
        *(
            nodes.definition_list_item(
                "",
                *(nodes.term("", "", *term) for term in terms),
                nodes.definition("", *definition),
            )
            for terms, definition in entries
        ),
    )

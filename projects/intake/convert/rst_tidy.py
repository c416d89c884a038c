"""The last look at a parsed reStructuredText document before it is written as HTML."""

import re
from typing import ClassVar

from docutils import nodes
from docutils.languages.en import labels
from docutils.transforms import Transform

ERROR_LEVEL = 3
# "`text <target>`_", "|name|", ":role:`text`": what is left when the target does not exist.
MARKUP = re.compile(r"^(?::[\w:+.-]+:)?[`|*\[]*(.*?)(?:\s*<[^<>]*>)?[`|*\]]*_{0,2}$", re.DOTALL)
UNDERLINE = re.compile(r"^\s*([^\w\s])\1{2,}\s*$", re.MULTILINE)


class Tidy(Transform):
    # After references are resolved (850), before messages are thrown away (870).
    default_priority: ClassVar[int] = 865

    def apply(self) -> None:
        self._keep_unreadable_source()
        self._plain_problems()
        self._quote_admonitions()
        self._plain_footnotes()

    def _keep_unreadable_source(self) -> None:
        for message in self._all(nodes.system_message):
            blocks = [node for node in message.children if isinstance(node, nodes.literal_block)]
            # Milder messages quote text that is in the document as well.
            if message["level"] < ERROR_LEVEL or not blocks:
                continue
            if "title" in message.astext().partition("\n")[0].lower():
                text = UNDERLINE.sub("", blocks[0].astext()).strip()
                kept: nodes.Node = nodes.paragraph("", "", nodes.strong("", text))
            else:
                kept = blocks[0]
            _swap(message, kept)

    def _plain_problems(self) -> None:
        for problem in self._all(nodes.problematic):
            found = MARKUP.match(problem.astext())
            _swap(problem, nodes.Text(found[1] if found and found[1] else problem.astext()))

    def _quote_admonitions(self) -> None:
        for node in self._all(nodes.Admonition, nodes.topic, nodes.sidebar):
            children = list(node.children)
            if children and isinstance(children[0], nodes.title):
                label: list[nodes.Node] = list(children.pop(0).children)
            else:
                label = [nodes.Text(labels.get(node.tagname, node.tagname))]
            head = nodes.paragraph("", "", nodes.strong("", "", *label))
            _swap(node, nodes.block_quote("", head, *children))

    def _plain_footnotes(self) -> None:
        """Marks and notes as text: links to and fro mean nothing once the page is cut up."""
        for node in self._all(nodes.footnote_reference, nodes.citation_reference):
            _swap(node, nodes.Text(f"[{node.astext()}]"))
        for node in self._all(nodes.footnote, nodes.citation):
            label, *rest = node.children
            if rest and isinstance(rest[0], nodes.paragraph):
                rest[0].insert(0, nodes.Text(f"[{label.astext()}] "))
            _swap(node, rest)

    def _all(self, *kinds: type) -> list[nodes.Element]:
        """Listed before any of them is replaced, which would upset the walk."""
        found = self.document.findall(lambda node: isinstance(node, kinds))
        return [node for node in found if isinstance(node, nodes.Element)]


def _swap(node: nodes.Element, other: nodes.Node | list[nodes.Node]) -> None:
    # Not `replace_self`: it insists on passing on ids, and plain text can have none.
    node.parent.replace(node, other)

"""Where an author sends readers to a glossary: what is shown there is a term, by the author's word.

In Markdown that is a link to an entry, a macro of a site generator, or a role of Sphinx.
"""

import re
from collections.abc import Callable

from projects.terms.links import TERM_LINK
from runs.engine.macros import quoted_in, shown_by

# An entry of a glossary and not the whole: `glossary.md#pod`, `/glossary/pod`, `#term-pod`. What
# stood as `:term:` in reStructuredText comes as a link of its own.
ENTRY = re.compile(
    rf"(?:glossar|terminolog)[\w-]*(?:\.\w+)?(?:/|[^\s#]*#)[^\s/]|#term-|^{TERM_LINK}$",
    re.IGNORECASE,
)
_TARGET = re.compile(r"^ {0,3}\[([^\]\n]+)\]:[ \t]*<?(\S+)", re.MULTILINE)
_SHORT = re.compile(r"(?<![\]!\\])\[([^\[\]\n]+)\](?:\[([^\[\]\n]*)\])?(?![(:])")
# {{< glossary_tooltip text="Pods" term_id="pod" >}}, {{Glossary("HTTP", "the protocol")}}
_MACRO = re.compile(r"\{\{[<%]?\s*(?:glossary|term)[\w-]*[\s(]([^{}]*?)[>%]?\}\}", re.IGNORECASE)
# <GlossaryTooltip id="pod">pods</GlossaryTooltip>
_TAG = re.compile(r"<(\w*glossary\w*)\b[^<>]*>([^<>\n]+)</\1>", re.IGNORECASE)
# {term}`pods <pod>`
_ROLE = re.compile(r"\{term\}`([^`<\n]+?)\s*(?:<[^`>\n]*>)?`|:term:`([^`<\n]+?)\s*(?:<[^`>\n]*>)?`")


def marked(text: str, mark: Callable[[str], str]) -> str:
    """The text with what its references show, each marked. Links that name their target where they
    stand are left as they are. No line moves."""
    if "{{" in text:
        text = _MACRO.sub(lambda macro: _kept(macro[0], mark(_shown(macro[1]))), text)
    if "<" in text:
        text = _TAG.sub(lambda tag: _kept(tag[0], mark(tag[2])), text)
    if "term" in text:
        text = _ROLE.sub(lambda role: _kept(role[0], mark(role[1] or role[2])), text)
    entries = {label.casefold() for label, target in _TARGET.findall(text) if ENTRY.search(target)}
    if entries:

        def link(found: re.Match[str]) -> str:
            label = found[2] or found[1]
            return mark(found[1]) if label.casefold() in entries else found[0]

        text = _SHORT.sub(link, text)
    return text


def _shown(arguments: str) -> str:
    if (shown := shown_by(arguments)) is not None:
        return shown
    # The name of the entry comes first, then what is shown for it.
    return next(reversed(quoted_in(arguments)), arguments.strip())


def _kept(before: str, after: str) -> str:
    return after.replace("\n", " ") + "\n" * before.count("\n")

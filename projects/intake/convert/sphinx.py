"""The directives and roles that Sphinx adds to reStructuredText, and any other unknown ones.

Docutils throws away the whole block of a directive that it does not know. So every unknown name in
a document is registered before it is parsed, with a meaning that keeps the text.
"""

import re
from typing import Any

from docutils import nodes, utils
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.parsers.rst.languages import en

from projects.intake.convert import rst_directives as meaning
from projects.terms.links import TERM_LINK

DIRECTIVE_NAME = re.compile(r"\.\. +(?:\|[^|\n]+\| +)?([\w:.+-]+?) ?::(?=\s|$)", re.MULTILINE)
ROLE_NAME = re.compile(r":([A-Za-z][\w:.+-]*):`|`:([A-Za-z][\w:.+-]*):")

# What a role gives back: the nodes, and messages about mistakes.
Answer = tuple[list[nodes.Node], list[nodes.system_message]]

MEANINGS: dict[type[meaning.Kept], str] = {
    meaning.Code: "code code-block sourcecode doctest testcode testoutput testsetup graphviz "
    "digraph graph mermaid uml plantuml productionlist math console",
    meaning.Silent: "include literalinclude raw highlight index module py:module currentmodule "
    "py:currentmodule sectionauthor codeauthor moduleauthor default-domain tabularcolumns program "
    "meta title contents sectnum section-numbering testcleanup",
    meaning.ContentOnly: "only ifconfig container hlist tabs grid tab-set acks compound",
    meaning.Version: " ".join(meaning.VERSIONS),
    meaning.Aside: "seealso todo impl-detail",
    meaning.ClassOrStyle: "class rst-class",
    meaning.TocTree: "toctree",
    meaning.Glossary: "glossary",
}
# The last part of a name counts; the domain before it ("py:") does not.
OBJECTS = (
    "function class method classmethod staticmethod attribute data exception decorator property "
    "decoratormethod option cmdoption envvar confval setting describe object var macro struct enum "
    "enumerator member type templatetag templatefilter fieldlookup django-admin opcode "
    "django-admin-option directive role pdbcommand"
)
CODE_ROLES = (
    "func class meth attr mod data exc const obj option envvar file command program kbd samp "
    "regexp makevar mimetype token keyword setting ttag tfilter lookup djadmin source cls method "
    "function module var type macro member struct enum"
)

for _kind, _names in MEANINGS.items():
    for _name in _names.split():
        directives.register_directive(_name, _kind)


def prepare(source: str) -> None:
    """Give every directive and role of the document that docutils does not know a meaning."""
    settings = get_default_settings(Parser)
    # To ask for an unknown name is reported as a mistake; here it is a question.
    settings.report_level = settings.halt_level = 5
    document = utils.new_document("", settings)
    english: Any = en
    for name in {found.lower() for found in DIRECTIVE_NAME.findall(source)}:
        if directives.directive(name, english, document)[0] is None:
            directives.register_directive(name, _directive_for(name))
    for name in {(before or after).lower() for before, after in ROLE_NAME.findall(source)}:
        if roles.role(name, english, 0, document.reporter)[0] is None:
            roles.register_local_role(name, _role_for(_last(name)))


def _last(name: str) -> str:
    return name.rpartition(":")[2]


def _directive_for(name: str) -> type[Directive]:
    return meaning.Described if _last(name) in OBJECTS.split() else meaning.Kept


def _role_for(name: str) -> Any:
    if name == "term":
        return _term
    return _code if name in CODE_ROLES.split() else _text


def _term(name: str, rawtext: str, text: str, *context: Any, **more: Any) -> Answer:
    """A link to wherever terms are explained: what the author calls a term is worth keeping."""
    shown = meaning.shown_title(utils.unescape(text))
    return [nodes.reference(rawtext, shown, refuri=TERM_LINK)], []


def _text(name: str, rawtext: str, text: str, *context: Any, **more: Any) -> Answer:
    return [nodes.Text(meaning.shown_title(utils.unescape(text)))], []


def _code(name: str, rawtext: str, text: str, *context: Any, **more: Any) -> Answer:
    return [nodes.literal(rawtext, meaning.shown_title(utils.unescape(text)))], []

"""The Markdown dialect of the site, and how its blocks are written as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape, unescape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block.state_block import StateBlock
from markdown_it.rules_core.state_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from projects.rendering import cjk, raw_html
from projects.rendering.budget import Budget
from projects.rendering.clean import Cleaner

# Deep lists are real, and the preset's 20 silently swallowed the headings below them.
MAX_NESTING = 100
# A paragraph with more of these than this is no prose; it is shown as it is written.
MARKERS = "[*_`<&!~^"
MAX_MARKERS = 5000
MAX_DETAILS = 20


@dataclass
class Sheet:
    """What the parser and the writer need to know of the document in hand; `env["sheet"]`."""

    budget: Budget
    # Set once the document's headings and links are known.
    cleaner: Cleaner = field(default_factory=lambda: Cleaner(anchors=set(), urls={}))
    open_details: int = 0


def plain_text(children: Sequence[Token]) -> str:
    """The words of a line without their markup."""
    words = []
    for token in children:
        if token.type in ("text", "code_inline"):
            words.append(token.content)
        elif token.type == "image":
            words.append(plain_text(token.children or []))
        elif token.type in ("softbreak", "hardbreak"):
            words.append(" ")
    return "".join(words)


class Html(RendererHTML):
    """Where the page needs something else than the library writes."""

    def render(self, tokens: Sequence[Token], options: OptionsDict, env: EnvType) -> str:
        html = super().render(tokens, options, env)
        return html + "</details>" * _sheet(env).open_details

    def renderInline(self, tokens: Sequence[Token], options: OptionsDict, env: EnvType) -> str:
        raw = [token.content for token in tokens if token.type == "html_inline"]
        if not raw:
            return super().renderInline(tokens, options, env)
        sheet = _sheet(env)
        sheet.budget.check()
        if raw_html.is_too_much("".join(raw)):
            for token in tokens:
                token.type = "text" if token.type == "html_inline" else token.type
            return super().renderInline(tokens, options, env)
        return sheet.cleaner.clean(super().renderInline(tokens, options, env))

    def html_inline(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return raw_html.prepared(tokens[idx].content)

    def html_block(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        sheet, piece, before, after = _sheet(env), tokens[idx].content, "", ""
        sheet.budget.check()
        # <details> is the one element that people open in one block and close in a later one.
        opening, closing = raw_html.DETAILS.match(piece), raw_html.DETAILS_END.search(piece)
        if opening and not closing and sheet.open_details < MAX_DETAILS:
            before, piece = opening[1], piece[opening.end() :]
            sheet.open_details += 1
        elif closing and not opening and sheet.open_details:
            piece, after = piece[: closing.start()], "</details>\n"
            sheet.open_details -= 1
        too_much = raw_html.is_too_much(piece)
        html = escape(piece) if too_much else sheet.cleaner.clean(raw_html.prepared(piece))
        return before + html + after

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        language = unescape(token.info).split(maxsplit=1)[:1]
        name = f' class="language-{escape(language[0])}"' if language else ""
        return f"<pre{self.renderAttrs(token)}><code{name}>{escape(token.content)}</code></pre>\n"

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        # No image is loaded: one from elsewhere would tell its server who reads what, and files
        # that are not documents are not kept here.
        token = tokens[idx]
        source = str(token.attrs.get("src", ""))
        words = escape(plain_text(token.children or []) or source.rsplit("/", 1)[-1])
        if token.meta.get("in_link") or not source.startswith(("http://", "https://")):
            return f'<span class="image" title="{escape(source)}">{words}</span>'
        return f'<a class="image" href="{escape(source)}">{words}</a>'

    def list_item_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        opening = self.renderToken(tokens, idx, options, env)
        checked = tokens[idx].meta.get("checked")
        if checked is None:
            return opening
        return f'{opening}<span class="task-box">{"☑" if checked else "☐"}</span> '

    def softbreak(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return "" if cjk.joins(tokens, idx) else "\n"


def _sheet(env: EnvType) -> Sheet:
    sheet = env["sheet"]
    assert isinstance(sheet, Sheet)
    return sheet


def _parse_lines(state: StateCore) -> None:
    """The library's own step, with the budget: text between the marks of a line becomes tokens."""
    budget = _sheet(state.env).budget
    for token in state.tokens:
        if token.type != "inline":
            continue
        budget.check()
        children = token.children = []
        if sum(map(token.content.count, MARKERS)) > MAX_MARKERS:
            children.append(Token("text", "", 0, content=token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, children)


def _look_at_clock(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """No block of its own: lists in quotations in lists take long before their lines are read."""
    _sheet(state.env).budget.check()
    return False


def _parser() -> MarkdownIt:
    options = {"maxNesting": MAX_NESTING, "tasklists": True}
    parser = MarkdownIt("commonmark", options, renderer_cls=Html)
    parser.enable(["table", "strikethrough"])
    parser.inline.ruler.at("emphasis", cjk.emphasis)
    parser.block.ruler.before("table", "clock", _look_at_clock)
    parser.core.ruler.at("inline", _parse_lines)
    return parser.use(footnote_plugin).use(deflist_plugin)


PARSER = _parser()

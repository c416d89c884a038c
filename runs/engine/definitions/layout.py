"""Definitions that a document sets out as such: lists, tables, headings."""

import re
from collections.abc import Sequence

from runs.engine.definitions import english, japanese
from runs.engine.definitions.findings import STRONG, Finding, adjusted
from runs.engine.definitions.plain import plain
from runs.engine.definitions.sentences import sentences
from runs.engine.definitions.spelling import (
    IS_JAPANESE,
    MASK,
    SPACES,
    Subject,
    folded,
    is_japanese,
)

NUMBERING = re.compile(
    r"^(?:[0-9０-９]+(?:[.．\-][0-9０-９]+)*[.．)）、]?\s+|[0-9０-９]+[．）、]\s*"
    r"|第[^\s　]{1,4}[章節部]\s*"
    r"|[A-Z]\.\s+|[（(][0-9０-９]+[）)]\s*)"
)
WHAT_IS = re.compile(r"^(?:so,? )?what(?:'s| is| are| does| do)\s+", re.I)
ARTICLE = re.compile(r"^(?:an?|the)\s+", re.I)
AROUND = re.compile(
    r"^(?:overview of|about|introduction to|introducing|understanding)\s+"
    r"|\s+(?:mean|overview|basics)$"
    r"|\s?(?:とは(?:何か|何ですか|何でしょうか|なにか)?|について|の概要|の概念|の紹介|って何)$",
    re.I,
)
PARENTHESIS = re.compile(r"\s*[（(]([^（）()]*)[）)]$")

# Say what kind of remark follows, and are no terms there.
LABEL = re.compile(
    r"(?:note|examples?|defaults?|default values?|warning|caution|tips?|important|descriptions?"
    r"|rationale|background|motivation|see also|prerequisites"
    r"|definitions?|meaning|定義|意味|背景|経緯|動機|関連項目|おわりに|参考"
    r"|inputs?|outputs?|入力|出力|単位|サイズ"
    r"|values?|types?|names?|usage|overview|introduction|configuration|summary|details?|options?|parameters?"
    r"|注意|注記|注|補足|例|備考|重要|警告|ヒント|既定値?|デフォルト値?|説明|概要|使い方|使用例|はじめに|設定|値|名前|まとめ"
    r"|上図|下図|右図|左図|前者|後者|外部サイト|本書|本章|本節|本稿|本文書|本ドキュメント|結果|目的|理由|原因|(?:入手|使用|利用|設定|確認|実行|対処)?方法|手順|条件"
    r"|problems?|causes?|symptoms?|solutions?|問題|解決策|課題|対策|方針|推奨|特徴|利点|欠点|メリット|デメリット"
    r"|注意点|留意点|ポイント|制限事項|前提条件|補足説明)",
    re.I,
)

MEANING_HEADER = re.compile(
    r"(?:meaning|definition|what it (?:is|means)|stands for|意味|定義|語義)s?", re.I
)
DESCRIPTION_HEADER = re.compile(
    r"(?:short |brief )?(?:descriptions?|explanations?|purpose|role)"
    r"|(?:説明|概要|解説|内容|役割|用途|機能)",
    re.I,
)
TERM_HEADER = re.compile(
    r"(?:terms?|words?|phrases?|acronyms?|abbreviations?|concepts?|components?|parts?|roles?"
    r"|用語|名称|語|言葉|略語|略称|呼び名|要素|構成要素|単語|コンポーネント|役割|概念)",
    re.I,
)
NAME_HEADER = re.compile(r"(?:names?|items?|tags?|types?|kinds?|名前|項目|種類|区分)", re.I)
ALIAS_HEADER = re.compile(
    r"(?:english|japanese|英語|日本語|和名|英名|英文|和文|略語|略称|略号|abbreviations?|acronyms?|別名|同義語|alias(?:es)?"
    r"|aka|synonyms?|also known as|full name|正式名称)",
    re.I,
)
NO_ENGLISH = re.compile(
    r"(?:see|note|use|run|set|click|add|if|when|for|to|you|we|in|on|make|check|select|enter|go|default"
    r"|defaults|required|optional|true|false|yes|no|this|these|that|it|there|as|at|by|i|my|our|your|let"
    r"|please|do|don't|ensure|create|open|choose|type|install|configure|specify|press|remove|delete"
    r"|update|change|start|stop|read|write|try|keep|put|take|get|what|how|why|who|where|which|added"
    r"|fixed|changed|updated|removed|new|now|since|after|before|once|because|although|with|without"
    r"|from|and|or|but|so|not|never|always|only|also|both|each|every|all|most|some|many|e\.g|https?)\b"
    r"|[\d$/<\"'`{(\[]",
    re.I,
)
# Lists below it are of what has changed.
CHANGES = re.compile(
    r"(?:.*\b)?(?:change ?log|changes|release notes?|what(?:'s|’s| is) new|version history)\b.*"
    r"|.*(?:リリースノート|変更履歴|更新履歴|変更点|更新情報).*"
    r"|\[?(?:version |v)?[0-9]+(?:\.[0-9]+){1,3}(?:[-.]?\w+)*\]?(?:\s*[-–—:(（].*)?",
    re.I,
)
# Of a list of changes.
ISSUE = re.compile(r"#\d+")
NO_JAPANESE = ("例", "「", "http", "詳細", "詳しく", "各", "この", "その", "これ", "それ", "もし")
# Of a form, and of what is to be filled in there.
IN_FORM = re.compile(r"[（(](?:オプション|必須|任意|省略可|既存|読み取り)")
CONTROL = re.compile(r"[*_]*\[!UICONTROL\b")
NOUN_START = re.compile(r"(?:an?|the|any|one|short for|abbreviation)\s", re.I)
VERB_START = re.compile(
    r"(?:manages|runs|provides|stores|defines|describes|controls|ensures|maintains|handles|holds"
    r"|represents|implements|keeps|watches|assigns|connects|converts|tracks|monitors|determines"
    r"|enforces|integrates|looks for|creates|contains|specifies|exposes|acts|serves|lets|allows"
    r"|enables|measures|collects|translates|protects|carries|shows|displays|opens|refers|means|denotes|stands)\s",
    re.I,
)
ITEM = re.compile(
    rf"(?:an?\s|the\s)?(?:{MASK}|[「『\"“]{MASK}[」』\"”])(?:\s*[（(][^（）()]{{1,60}}[）)])?"
    r"\s*(?::(?=\s|[^\x00-\x7f])|：|\s[—–]\s|—|\s--?\s|…+|\s―+\s?)\s*(?P<rest>\S.*)",
    re.I | re.S,
)
# A list below such a heading is of what can be set or sent, and not of what things are.
SETTINGS = re.compile(
    r"(?:parameters?|arguments?|options?|settings?|controls?|propert(?:y|ies)|fields?|headers?|flags?"
    r"|attributes?|preferences|variables|configuration)(?:\s+\{#[^}]*\})?$"
    r"|(?:設定|オプション|パラメータ|パラメーター|引数|プロパティ|プロパティー|フィールド|属性|環境変数|ヘッダー?)(?:項目|一覧)?$",
    re.I,
)
# An item, however far below such a one.
FORM = re.compile(
    r"\b(?:parameters|options|settings|fields|preferences)$"
    r"|(?:設定|オプション|パラメータ|パラメーター|フィールド)(?:項目|一覧)?$",
    re.I,
)
PARAMETERS = re.compile(
    r"\b(?:parameters?|arguments?|options|flags)$|(?:引数|パラメータ|パラメーター|オプション)$",
    re.I,
)
SETTINGS_HEADER = re.compile(
    r"(?:data )?types?|defaults?|default values?|required\??|optional\??|mandatory"
    r"|型|データ型|既定値?|デフォルト値?|初期値|必須|省略",
    re.I,
)
GLOSSARY = re.compile(
    r"\b(?:glossary|terms|terminology|definitions|vocabulary|concepts)\b|用語|語彙", re.I
)
# "Software that …", "For a …, the …"
OF_A_KIND = re.compile(
    r"(?!(?:ensures?|checks?|verif(?:y|ies)|indicates?|notes?|means|specif(?:y|ies)|choose|select|set"
    r"|use|define|change|show|limit|enable|control)\b)"
    r"(?:(?:[\w\-]+\s+){1,7}(?:that|who|whose)\b|(?:[\w\-]+\s+){2,7}which\b)"
    r"|(?:In|On|For|With)\s[^,]{2,60},\s(?:an?|the)\s",
    re.I,
)
# "SCADA: Supervisory control and data acquisition: the system that …"
LONG_FORM = re.compile(r"[A-Z][\w\-]*(?:\s[\w\-]+){1,7}: (?=(?:an?|the)\s)")
# A list below, code, an address.
NO_MEANING = re.compile(
    r"(?:[-*+]\s|`|https?:|\d+\.|\[|see\b|also \S+(?:\s\S+){0,3}$|e\.g|is a |calls? |example"
    r"|例|参照|https?)",
    re.I,
)
# Names and nothing said of them: 「X：A、B、C」.
NAMES = re.compile(r"[^、。のをはがにで]{1,12}(?:、[^、。のをはがにで]{1,12}){2,}")
# Of something else than the term: 「X：Yは…」.
OWN_TOPIC = re.compile(r"[^、。]{1,24}は、?")
# Of somebody who has to do something: 「X：図解を活用する」.
ADVISED = re.compile(
    r"(?:(?:活用|検討|負担|考慮|重視|徹底|推奨|意識|遵守|採用|実装|記述|使用|利用|確認|選択|指定|設定|回避|優先)"
    r"(?:する|します)|責任を(?:持つ|持ちます|負う|負います))$"
)
# More than the words of a longer name: 「サンプリング技術」.
JOINED = re.compile("[ぁ-ん]|用|向け")
# What is done with it, or can be.
CAN_BE_DONE = re.compile(rf"でき(?:る|ます)$|{japanese.PASSIVE.pattern}")
# 「Xに値を設定する」 in the place of what X means.
TAKEN_AS_KNOWN = re.compile(f"{MASK}(?:[にのをへで型が]|と(?!は))")
# A list of what is done, politely, and not of what things are.
POLITE = re.compile(r"(?<!となり)(?<!指し)(?<!いい)(?<!表し)ます$")
# Words in code: a parameter or a key has no space, and those in capitals are of a language.
WORDS_IN_CODE = re.compile(r"`(?![A-Z ]+`)[A-Za-z]+(?: [A-Za-z]+)+`")
SET_OFF = re.compile(r"\*\*[^*]+\.?\*\*|__[^_]+\.?__")
# The title of another page, or what one holds.
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\([^()\s]*\)")
OF_PAGE = re.compile(
    r"an?\s+(?:[\w\-]+\s+)?(?:rundown|overview|guide|tutorial|walk-?through|introduction|summary"
    r"|(?:description|explanation|list) of"
    r"|collection of (?:guides|articles|tutorials|examples|links))\b",
    re.I,
)
RUN_IN = re.compile(
    rf"(?:an?\s|the\s)?{MASK}\.\s+(?P<rest>(?:An?|The)\s(?:[\w\-]+\s+){{1,4}}?"
    r"(?:that|which|who|whose|for|of|to|used|where|in|with|by|below|above|between)\b.+)",
    re.I | re.S,
)
# The term so near the beginning of what is said of it: that takes it as known.
CIRCULAR = 60
FEWEST_WORDS, FEWEST_CHARACTERS = 4, 8


def names_in_heading(heading: str) -> list[str]:
    """What a heading may be the name of, folded: 「2.1 Xとは」 and "What is an X?" are of X."""
    text = NUMBERING.sub("", heading.strip()).strip().rstrip("?？:：").strip()
    text = AROUND.sub("", ARTICLE.sub("", WHAT_IS.sub("", text))).strip(' 「」『』"“”')
    names = [text]
    if parenthesis := PARENTHESIS.search(text):
        names += [text[: parenthesis.start()], parenthesis[1]]
    return [SPACES.sub(" ", folded(name)).strip() for name in names if name.strip()]


def in_row(row: Sequence[str], header: Sequence[str], subject: Subject) -> Finding | None:
    """The row of a table that tells what its first words mean.

    The pattern keeps the columns: "table:<meaning>:<other names>".
    """
    words = [plain(cell) for cell in row]
    names = [plain(cell) for cell in header]
    own = next((n for n, word in enumerate(words) if is_name(word, subject)), None)
    if own is None or own >= len(names):
        return None
    is_of_settings = any(SETTINGS_HEADER.fullmatch(name) for name in names[1:])
    others = ",".join(
        str(n)
        for n, name in enumerate(names[: len(words)])
        if n != own and ALIAS_HEADER.fullmatch(name) and len(words[n]) > 1
    )
    is_term = TERM_HEADER.fullmatch(names[own]) or ALIAS_HEADER.fullmatch(names[own])
    is_name_column = own == 0 or is_term or NAME_HEADER.fullmatch(names[own])
    if is_name_column and not is_of_settings:
        for header_of, score in ((MEANING_HEADER, 0.86), (DESCRIPTION_HEADER, 0.7)):
            for n, name in enumerate(names[: len(words)]):
                if n == own or not header_of.fullmatch(name):
                    continue
                if _says_something(words[n]) and MASK not in subject.masked(words[n])[:CIRCULAR]:
                    # "Name" and "Description" are mostly of settings.
                    change = 0.05 if is_term else -0.16
                    return Finding(round(score + change, 2), f"table:{n}:{others}")
    # What stands in another column is not what the row is about.
    return Finding(0.2, f"table::{others}") if others and is_name_column else None


def columns(pattern: str) -> tuple[int | None, list[int]]:
    """The column of the meaning and those of other names, from a pattern."""
    _table, meaning, others = pattern.split(":")
    return (int(meaning) if meaning else None), [int(n) for n in others.split(",") if n]


def is_name(words: str, subject: Subject) -> bool:
    """Whether a cell or a head is the term, with something in brackets at most."""
    text = words.strip(' "“”「」『』:：')
    return subject.is_named_by(text) or subject.is_named_by(PARENTHESIS.sub("", text))


def meaning_score(meaning: str, head: str, subject: Subject, headings: Sequence[str]) -> float:
    """How good the meaning in a definition list is, given in plain words; `headings` are those it
    stands below, the nearest last."""
    if is_circular(meaning, subject) or NO_MEANING.match(meaning):
        return 0.5
    if not _says_something(meaning, FEWEST_WORDS - 1):
        return 0.5
    # In code, it is a parameter or a key more often than a term.
    if head.startswith("`") or "_" in plain(head) or SETTINGS.search(headings[-1].strip()):
        return 0.58
    is_glossary = any(map(GLOSSARY.search, headings))
    return 0.9 if is_glossary or _is_meaning(meaning, subject) else 0.56


def _is_meaning(meaning: str, subject: Subject) -> bool:
    """Whether it says what a term is: such lists are of orders and values, too."""
    start, end = sentences(meaning, 0, len(meaning))[0]
    said = meaning[start:end]
    if is_japanese(said):
        finding = _japanese_item(said, subject, politely=True)
        return finding is not None and finding.score >= STRONG
    if subject.term.text.isupper():
        said = LONG_FORM.sub("", said, count=1)
    if NOUN_START.match(said):
        return not _is_clause(said)
    return bool(OF_A_KIND.match(said) or english.judged(subject.masked(said)))


def is_circular(meaning: str, subject: Subject) -> bool:
    """Whether a meaning takes its term as known: it has it near its beginning, and not as that of
    which something is said."""
    masked = subject.masked(meaning)
    return MASK in masked[4:CIRCULAR] or TAKEN_AS_KNOWN.match(masked) is not None


def _says_something(words: str, fewest: int = FEWEST_WORDS) -> bool:
    if is_japanese(words):
        return len(words) >= FEWEST_CHARACTERS and not japanese.ORDER.search(words.rstrip("。"))
    return len(words.split()) >= fewest and not words.endswith("?")


def in_item(raw: str, subject: Subject, *, is_item: bool, is_ordered: bool) -> Finding | None:
    """「**X**：…」 and "X: …" in lists; outside of them only with the term set off."""
    is_set_off = raw.lstrip("([")[:1] in tuple("*_`<「") or raw.startswith("[**")
    if (not is_item and not is_set_off) or LINK.fullmatch(raw.strip()):
        return None
    found = _item(raw, subject)
    if found is None or found["rest"].endswith((":", "：")):
        return None
    rest = found["rest"]
    _start, end = sentences(rest, 0, len(rest))[0]
    said = rest[:end]
    is_japanese_item = IS_JAPANESE.search(rest) is not None
    if MASK in (said if is_japanese_item else said[:CIRCULAR]):
        return None
    if LINK.match(raw) and OF_PAGE.match(said):
        return None
    finding = _japanese_item(said, subject) if is_japanese_item else _english_item(rest)
    if finding is None:
        return None
    change = -0.24 if is_ordered else 0.0
    if CONTROL.match(raw):
        change -= 0.3
    # In code, it is a parameter or a key more often than a term.
    if raw.startswith("`"):
        change -= 0.2 if WORDS_IN_CODE.match(raw) else 0.3
    return adjusted(finding, change + (0.04 if is_set_off else -0.08))


def is_of_settings(headings: Sequence[str], lead: str = "") -> bool:
    """Whether a list is of what can be set or sent, by the headings above it or the paragraph."""
    is_led_in = PARAMETERS.search(lead.rstrip(":：. ")) is not None
    return is_led_in or any(FORM.search(heading.strip()) for heading in headings)


def is_labelled(raw: str, subject: Subject) -> bool:
    """Whether a paragraph or item begins with the term as its label."""
    return _item(raw, subject) is not None


def _item(raw: str, subject: Subject) -> re.Match[str] | None:
    """The term, a sign, and what is said of it; "**X.** The …" is a little heading in the text."""
    masked = subject.masked(plain(raw))
    return ITEM.match(masked) or (RUN_IN.match(masked) if SET_OFF.match(raw) else None)


def _english_item(rest: str) -> Finding | None:
    if len(rest.split()) < FEWEST_WORDS or "?" in rest[:CIRCULAR] or rest.endswith("?"):
        return None
    if ISSUE.search(rest) or _is_clause(rest):
        return None
    if NOUN_START.match(rest):
        return Finding(0.8, "list")
    if NO_ENGLISH.match(rest):
        return None
    return Finding(0.72 if VERB_START.match(rest) else 0.54, "list")


def _is_clause(said: str) -> bool:
    """ "The worker has changed …": about something else."""
    return said[:4].lower() == "the " and english.MAIN_VERB.search(said[:80]) is not None


def _japanese_item(said: str, subject: Subject, *, politely: bool = False) -> Finding | None:
    core = japanese.core_of(said)
    if len(core) < FEWEST_CHARACTERS or japanese.QUESTION.search(core):
        return None
    if japanese.ORDER.search(core) or core.startswith(NO_JAPANESE):
        return None
    if japanese.LEANS.match(core) or IN_FORM.match(core):
        return None
    if japanese.ELSEWHERE.search(core) or NAMES.fullmatch(core) or ADVISED.search(core):
        return None
    if OWN_TOPIC.match(core) or japanese.OPINION.search(core) or japanese.LESSER.search(core):
        return None
    if japanese.PAST.search(core) or japanese.NEGATIVE.search(core):
        return None
    if POLITE.search(core) and not politely:
        return None
    copula = japanese.COPULA.search(core)
    noun = core[: copula.start()] if copula else core
    if japanese.OWN_SUBJECT.search(noun):
        return None
    if japanese.MEANS.search(core) or (japanese.CLASS.search(noun) and JOINED.search(noun)):
        return Finding(0.78, "list")
    if copula:
        return None if japanese.NOT_NOUN.search(noun) else Finding(0.68, "list")
    if japanese.DOES.search(core) and not CAN_BE_DONE.search(core):
        return Finding(0.72, "list")
    return Finding(_kind_score(core, subject), "list")


def _kind_score(core: str, subject: Subject) -> float:
    """How sure it is that a phrase ends with what kind of thing the term is. One that ends like
    the term is of its kind: 「複式元帳：…する元帳」."""
    found = japanese.KIND.search(core)
    if found is None:
        return 0.5
    noun, name = found["noun"], subject.term.text
    if name != noun and name.endswith(noun):
        return 0.74
    if japanese.NOT_KIND.search(noun) or japanese.NOT_NOUN.search(noun):
        return 0.5
    return 0.6


def after_name(raw: str, subject: Subject) -> str:
    """What an item says of its term, in plain words; empty when it is no such item."""
    words = plain(raw)
    found = _item(raw, subject)
    # The rest is at the end of both, but the term may stand in it again.
    return _unmasked(found["rest"], words) if found else ""


def _unmasked(rest: str, words: str) -> str:
    start = len(words)
    for part in reversed(rest.split(MASK)):
        start = words.rindex(part, 0, start) if part else start
    return words[start:]

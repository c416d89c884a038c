"""Definitions that are set out as such: lists, definition lists, tables."""

import pytest

from tests.runs.engine.definitions.made import a_term, contexts, entry, is_offered


@pytest.mark.parametrize(
    ("term", "line", "definition"),
    [
        (
            "broker",
            "- **Broker**: a process that passes messages.",
            "A process that passes messages.",
        ),
        (
            "broker",
            "* **Broker:** a process that passes messages.",
            "A process that passes messages.",
        ),
        ("broker", "- broker — a process that passes messages.", "A process that passes messages."),
        (
            "broker",
            "- *broker* - The process that passes messages.",
            "The process that passes messages.",
        ),
        (
            "broker",
            "**Broker**: the process that passes messages.",
            "The process that passes messages.",
        ),
        (
            "broker",
            "**Broker.** The process of the house that hums.",
            "The process of the house that hums.",
        ),
        (
            "broker",
            "- **Broker**: manages the queues of a house.",
            "Manages the queues of a house.",
        ),
        (
            "水位調整運転",
            "- **水位調整運転**：タンクの水位を一定に保つ。",
            "タンクの水位を一定に保つ。",
        ),
        (
            "母線",
            "- 母線：すべての電源と負荷がつながる導体の部分。",
            "すべての電源と負荷がつながる導体の部分。",
        ),
        (
            "母線",
            "　・母線：すべての電源と負荷がつながる設備。",
            "すべての電源と負荷がつながる設備。",
        ),
        (
            "message broker",
            "- `message broker`: a process that passes messages.",
            "A process that passes messages.",
        ),
        (
            "broker",
            "- [Broker](broker.md): a process that passes messages.",
            "A process that passes messages.",
        ),
        (
            "message broker",
            "`message broker`: a process that passes messages.",
            "A process that passes messages.",
        ),
        (
            "broker",
            "**Broker**: a line of messages. Each broker hums. Brokers are big.",
            "A line of messages.",
        ),
        (
            "冪等キー",
            "- **冪等キー**：再送を安全にするために付ける文字列（最大64文字）。",
            "再送を安全にするために付ける文字列（最大64文字）。",
        ),
        (
            "チャージバック",
            "- **チャージバック**（異議申立てともいう）：発行会社が行うカード支払いの取り消し。",
            "発行会社が行うカード支払いの取り消し。",
        ),
        ("岸壁", "- **岸壁**：船を横づけするための壁。", "船を横づけするための壁。"),
        (
            "複式元帳",
            "- 複式元帳：すべての取引を借方と貸方に記帳する元帳。",
            "すべての取引を借方と貸方に記帳する元帳。",
        ),
    ],
)
def test_an_item_that_explains(term: str, line: str, definition: str) -> None:
    found = entry(term, f"# Parts\n\n{line}\n")
    assert is_offered(found)
    assert found.definition == definition
    assert found.evidence[0].quote in line


@pytest.mark.parametrize(
    ("term", "line"),
    [
        ("broker", "- **Broker**: see the chapter on machines."),
        ("broker", "- **Broker**: run this command on each machine."),
        ("broker", "- **Broker**: 3 of them, all in the cellar."),
        ("broker", "- **Broker**: A big one."),
        ("broker", "- **Broker**: the broker that is used by the workers."),
        ("broker", "- **Broker**: what does it do for the workers?"),
        ("broker", "- **Broker**: a list of them follows:"),
        ("broker", "1. Broker: machines that were switched off."),
        ("broker", "Broker: a process that passes messages."),
        ("broker", "- **Broker.** Barnacles love a slow rotor of a turbine."),
        ("broker", "- **Broker**: The Message Monitor can be used by all workers."),
        ("broker", "- **Broker**: The unit is drawn below the machines."),
        ("broker", "- **Broker**: the data must be passed on by all workers."),
        ("broker", "- **Broker**: The house could think of more machines."),
        ("broker", "- **Broker**: An oxymoron or a new machine? A story of the house."),
        ("broker", "- [Broker](broker.md): A description of the process."),
        ("broker", "- **[!UICONTROL Broker]**: a process that passes messages."),
        ("母線", "- **母線**：（オプション）すべての電源と負荷がつながる設備。"),
        ("母線", "- **母線**：印を付けると、電圧を選べるようになります"),
        ("出力", "- **出力**：すべての電源と負荷がつながる設備。"),
        ("母線", "- **母線**：次に、すべての電源がつながる設備。"),
        ("broker", "- [Broker: the process in the cellar](broker.md)"),
        ("broker", "- [**Broker**](broker.md) — A short overview of the process."),
        ("母線", "- [母線：すべての電源がつながる設備](bus.md)"),
        ("母線", "- **母線**：開閉器、遮断器、設備"),
        ("定義", "- **定義**：すべての電源と負荷がつながる設備。"),
        ("broker", "- **Broker pool**: a set of processes that pass messages."),
        ("broker", "- `broker`: A value of the settings to be used."),
        ("no action", "- `NO ACTION`: The same as it was before."),
        ("worker show", "- `worker show`: Shows the workers of the house."),
        ("note", "- **Note**: a process that passes messages."),
        ("系統図", "1. **系統図**：母線の周波数が 60 Hz 付近にあるか。"),
        ("潮流", "2. **潮流**：水車の出力、次の憩流の時刻。"),
        ("母線", "- **母線**：作業の前に電圧を確かめてください。"),
        ("母線", "- **母線**：電圧は 6.6 kV のままである。"),
        ("母線", "- **母線**：最初に電圧を確かめます。"),
        ("母線", "- **母線**：作業の前に電圧を確かめます（毎日）。"),
        ("母線", "- **母線**：点検のときに電圧が下がる可能性。"),
        ("母線", "- **母線**：雷による長い時間の停電。"),
        ("母線", "- 母線：すべての電源と負荷がつながる導線。"),
        ("注意", "- **注意**：すべての電源がつながる設備。"),
        ("方針", "- **方針**：すべての電源がつながる設備。"),
        ("problem", "- **Problem**: The machine that hums in the cellar."),
        ("母線", "- **母線**：電圧を下げるため、二つ目の設備を活用する。"),
        ("母線", "- **母線**：上記の電源がつながる設備。"),
    ],
)
def test_an_item_that_does_not_explain(term: str, line: str) -> None:
    assert not is_offered(entry(term, f"# Parts\n\n{line}\n"))


def test_a_definition_list() -> None:
    text = "# Words\n\nslack gap\n: The time in which the tide delivers nothing.\n\nnext\n: More.\n"
    found = entry("slack gap", text)
    assert found.definition == "The time in which the tide delivers nothing."
    assert found.evidence[0].quote == "slack gap\n: The time in which the tide delivers nothing."
    assert (found.evidence[0].line_start, found.evidence[0].line_end) == (3, 4)
    assert not is_offered(entry("gap", text))


@pytest.mark.parametrize(
    "meaning",
    [
        "The process that passes messages.",
        "Software that passes messages.",
        "For a message in the house, the process that passes it on.",
        "A broker is a process that passes messages.",
    ],
)
def test_a_meaning_says_what_a_thing_is(meaning: str) -> None:
    found = entry("broker", f"# House\n\nBroker\n: {meaning}\n")
    assert is_offered(found)
    assert found.definition == meaning


@pytest.mark.parametrize(
    "meaning",
    [
        "Choose which of the machines passes messages.",
        "Choose the order in which messages are passed.",
        "Ensures that messages arrive in order.",
        "String or Array of Strings.",
        "Linear, in the order of arrival.",
        "Only used on Mondays, for all messages.",
        "The worker has changed the order of messages.",
        "Also message router",
    ],
)
def test_a_list_of_what_to_do_and_of_values(meaning: str) -> None:
    assert not is_offered(entry("broker", f"# House\n\nBroker\n: {meaning}\n"))


@pytest.mark.parametrize(
    "meaning",
    [
        "仲介に指定するプロパティは以下の通り。",
        "- 仕事を受け取る係のクラスとすること。",
        "`properties name=仲介",
        "係の名前は必ず書くこと。",
        "知らせを待つ人が少なからずいる",
        "知らせの大幅な変更を伴う場合",
        "窓口に係の名前を記す。",
        "係の名前の例を以下に示す。",
    ],
)
def test_a_japanese_list_of_what_to_do_and_of_values(meaning: str) -> None:
    assert not is_offered(entry("窓口", f"# 家\n\n窓口\n: {meaning}\n"))


@pytest.mark.parametrize("meaning", ["知らせを係に渡す所。", "知らせを受け取り、係に渡します。"])
def test_a_japanese_list_of_meanings(meaning: str) -> None:
    assert entry("窓口", f"# 家\n\n窓口\n: {meaning}\n").definition == meaning


def test_in_a_glossary_a_meaning_may_be_put_in_any_way() -> None:
    for headings in ("# Glossary", "# Glossary\n\n## A to C"):
        found = entry("broker", f"{headings}\n\nBroker\n: Passing of messages between workers.\n")
        assert found.definition == "Passing of messages between workers."


@pytest.mark.parametrize("heading", ["Form parameters", "Controls {#controls}", "一般的な設定"])
def test_a_list_of_settings_is_no_glossary(heading: str) -> None:
    text = f"# {heading}\n\nBroker\n: The process that passes messages.\n"
    assert not is_offered(entry("broker", text))


@pytest.mark.parametrize("heading", ["Other settings", "オプション"])
def test_an_item_among_settings_is_one(heading: str) -> None:
    item = "- **Window**: controls the time that is shown."
    assert is_offered(entry("window", f"# Installation and configuration\n\n{item}\n"))
    assert not is_offered(entry("window", f"# {heading}\n\n{item}\n"))
    assert not is_offered(entry("window", f"# {heading}\n\n## House\n\n{item}\n"))
    assert is_offered(entry("window", f"# House\n\n{item}\n"))


@pytest.mark.parametrize("lead", ["__Arguments__", "It takes these parameters:", "**引数**"])
def test_an_item_among_parameters_is_one(lead: str) -> None:
    items = "- **Gain**: a number.\n- **Window**: a process that shows the time.\n"
    assert not is_offered(entry("window", f"# House\n\n{lead}\n\n{items}"))
    assert is_offered(entry("window", f"# House\n\n{lead}\n\n# Parts\n\n{items}"))
    assert is_offered(entry("window", f"# House\n\nIt has these parts:\n\n{items}"))


def test_a_name_with_an_underscore_is_of_a_setting() -> None:
    text = "# House\n\nbroker_name\n: The name of the process that hums.\n"
    assert not is_offered(entry("broker_name", text))


def test_the_long_form_of_a_short_one_comes_before_its_meaning() -> None:
    meaning = "Remote terminal unit: the small computer at each station."
    assert entry("RTU", f"# House\n\nRTU\n: {meaning}\n").definition == meaning
    assert not is_offered(entry("rack", f"# House\n\nRack\n: {meaning}\n"))


def test_of_a_long_meaning_the_first_sentence_is_taken() -> None:
    text = "broker\n: A process that passes messages. See the next chapter for more about it.\n"
    assert entry("broker", text).definition == "A process that passes messages."


TABLE = """
| Term | Meaning | Page |
|---|:--|--:|
| **slack gap** | the time in which the tide delivers nothing | 12 |
| tide | high | 13 |
"""


def test_a_table_of_terms() -> None:
    found = entry("slack gap", TABLE)
    assert found.definition == "The time in which the tide delivers nothing"
    assert found.evidence[0].quote == TABLE.splitlines()[3]
    assert found.evidence[0].line_start == 4


def test_a_cell_that_says_little_is_no_definition() -> None:
    assert not is_offered(entry("tide", TABLE))


def test_a_table_of_settings_is_no_glossary() -> None:
    table = "| Key | Description |\n|---|---|\n| endpoint | where the exporter sends its data |\n"
    assert not is_offered(entry("endpoint", table))
    assert is_offered(entry("endpoint", table.replace("Key", "Term")))


@pytest.mark.parametrize("term", ["broker", "string"])
def test_a_table_with_types_is_of_fields(term: str) -> None:
    table = (
        "| Name | Type | Meaning |\n|---|---|---|\n"
        "| Broker | String | The machine in the house that passes messages |\n"
    )
    assert not is_offered(entry(term, f"# House\n\n{table}"))


def test_a_japanese_table() -> None:
    table = "| 用語 | 意味 |\n|---|---|\n| 憩流 | 潮の流れがほぼ止まっている状態 |\n"
    assert entry("憩流", table).definition == "潮の流れがほぼ止まっている状態"


def test_a_table_of_names_gives_other_names() -> None:
    table = (
        "| 日本語 | 英語 | 略語 | ひとこと |\n|---|---|---|---|\n"
        "| 充電率 | state of charge | SOC | 定格容量に対する割合で表します |\n"
    )
    found = entry("充電率", table)
    assert not is_offered(found)
    assert found.aliases == ("state of charge", "SOC")


def test_other_names_are_of_what_the_row_is_about() -> None:
    text = "| Team | 日本語 | Lead |\n|---|---|---|\n| Marine | 海上班 | Ingrid Solheim |\n"
    assert entry("Marine", text).aliases == ("海上班",)
    assert entry("海上班", text).aliases == ()
    assert entry("Ingrid Solheim", text).aliases == ()


def test_code_has_no_sentences() -> None:
    text = (
        "```text\nA broker is a server that stores messages.\n```\n\n    broker is a thing here\n"
    )
    assert contexts("broker", text) == []


@pytest.mark.parametrize(
    "text",
    [
        "<!-- A broker is a server that stores messages. -->\n",
        "<!--\nA broker is a server that stores messages.\n-->\n",
        "---\ntitle: A broker is a server that stores messages.\n---\n",
    ],
)
def test_what_is_not_shown_is_not_quoted(text: str) -> None:
    assert contexts(a_term("broker"), text) == []


@pytest.mark.parametrize(
    ("heading", "is_of_changes"),
    [
        ("2023.10.0 (2023/10/10)", True),
        ("v1.4", True),
        ("[0.3.1] - 2024-01-02", True),
        ("Changelog", True),
        ("Release notes of version 3", True),
        ("更新履歴", True),
        ("構成", False),
        ("2.1 構成", False),
    ],
)
def test_a_list_of_changes_tells_of_features(heading: str, is_of_changes: bool) -> None:
    """「クライアント：…機能」 says what was added to it."""
    text = f"# Misskey\n\n## {heading}\n\n### 一般\n\n- クライアント: 未読の通知のみ表示する機能\n"
    assert is_offered(entry("クライアント", text)) != is_of_changes


SECTION = "# {}\n\n## Tenure\n\nA tree that stands too long by a river that floods.\n"


def test_a_heading_of_many_sections_is_no_term_of_theirs() -> None:
    assert is_offered(entry("tenure", SECTION.format("Oak")))
    assert not is_offered(entry("tenure", *map(SECTION.format, ("Oak", "Elm", "Ash"))))
    # What names it is about it, however many sections there are.
    own = "# Law\n\n## Tenure\n\nTenure is a way to hold land that another owns.\n"
    found = entry("tenure", *map(SECTION.format, ("Oak", "Elm", "Ash")), own)
    assert found.definition == "Tenure is a way to hold land that another owns."


ITEM = "# {0}\n\n- **Yield**: A {0} that is felled for its wood.\n"
MEANING = "# {0}\n\nYield\n: A {0} that is felled for its wood.\n"


@pytest.mark.parametrize("section", [ITEM, MEANING])
def test_a_label_of_many_items_is_no_term_of_theirs(section: str) -> None:
    trees = [section.format(tree) for tree in ("oak", "elm", "ash", "fir", "yew", "bay")]
    assert is_offered(entry("yield", *trees[:2]))
    assert not is_offered(entry("yield", *trees))
    assert not is_offered(entry("yield", "\n".join(trees)))
    # The same glossary may be in each version of a manual.
    assert is_offered(entry("yield", *trees[:1] * 6))
    # What names it is about it, however many items there are.
    own = "# Wood\n\nYield is a measure of how much wood a forest gives.\n"
    assert entry("yield", *trees, own).definition.startswith("Yield is a measure")


def test_the_head_of_a_definition_list_says_nothing_of_its_section() -> None:
    assert not is_offered(entry("窓口", "# 窓口\n\n画面のコンポーネント\n: 窓口\n"))


@pytest.mark.parametrize("heading", ["Rationale", "背景"])
def test_a_heading_that_says_what_a_section_is_for(heading: str) -> None:
    assert not is_offered(entry(heading, SECTION.replace("Tenure", heading).format("Oak")))


def test_a_setting_in_capitals_is_not_the_thing() -> None:
    text = "# Top\n\n`DATABASE` is a path where the file is kept that holds everything.\n"
    assert not is_offered(entry("database", text))
    assert is_offered(entry("DATABASE", text))

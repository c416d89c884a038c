"""The names of a glossary in a text: what counts as one of them, and what only looks like it."""

import time

import pytest

from indexing.search.names import Names, Row
from projects.terms.keys import key_of


def names_of(*terms: str, **aliases: tuple[str, ...]) -> Names:
    rows = [Row(number, term, key_of(term)) for number, term in enumerate(terms)]
    more = [
        Row(len(terms) + number, term, key_of(term), others)
        for number, (term, others) in enumerate(aliases.items())
    ]
    return Names([*rows, *more])


def found(text: str, *terms: str) -> list[str]:
    ids = names_of(*terms).ids_in(text)
    return [term for number, term in enumerate(terms) if number in ids]


class TestFound:
    @pytest.mark.parametrize(
        ("text", "term"),
        [
            ("The message queues are full.", "message queue"),
            ("A Message-Queue of ours", "message queue"),
            ("a message\nqueue", "message queue"),
            ("a message-\nqueue", "message queue"),
            ("a **message** `queue`", "message queue"),
            ("| message queue | 3 |", "message queue"),
            ("by e-mail", "email"),
            ("by email", "e-mail"),
            ("Men at work", "man"),
            ("Conway’s law", "Conway's Law"),
            ("the queue's end", "queue"),
            ("in C++, C# and .NET", "C++"),
            ("in C++, C# and .NET", "C#"),
            ("in C++, C# and .NET", ".NET"),
            ("over TCP/IP", "TCP/IP"),
            ("our R & D", "R&D"),
            ("with node.js", "Node.js"),
            ("the licence", "license"),
            ("サーバーを置く", "サーバ"),
            ("ｻｰﾊﾞを置く", "サーバー"),
            ("ユーザ・インタフェースを描く", "ユーザーインターフェース"),
            ("水先人は船を案内する", "水先人"),
            ("APIを呼ぶ", "API"),
            ("ＡＰＩを呼ぶ", "API"),
            ("サーバ室の鍵", "サーバ"),
            ("各部署で", "部署"),
            ("会議中は", "会議"),
            ("取り込み処理をする", "取り込み処理"),
            ("取り込みの後で", "取り込み"),
            ("two APIs", "API"),
        ],
    )
    def test_in_each_of_its_spellings(self, text, term):
        assert found(text, term) == [term]

    @pytest.mark.parametrize(
        ("text", "term"),
        [
            ("queueing", "queue"),
            ("a queue-based design", "queue"),
            ("src/queue/main.py", "queue"),
            ("queue_name", "queue"),
            ("message. Queue", "message queue"),
            ("message\n\nqueue", "message queue"),
            ("- message\n- queue", "message queue"),
            ("message | queue", "message queue"),
            ("message, queue", "message queue"),
            ("it is so", "IT"),
            ("ファイルサーバを置く", "サーバ"),
            ("サーバレスにする", "サーバ"),
            ("水先案内人", "水先"),
            ("水先案内人", "案内"),
            ("時間が過ぎる", "時"),
            ("それはこれだ", "はこ"),
            ("ビルの中", "ビール"),
            ("", "queue"),
            ("😀 — 。", "queue"),
        ],
    )
    def test_not_where_it_only_looks_like_it(self, text, term):
        assert found(text, term) == []

    def test_the_longest_takes_its_place_but_no_other(self):
        both = ("queue", "message queue")
        assert found("The message queue is full.", *both) == ["message queue"]
        assert found("The message queue is a queue.", *both) == list(both)
        assert found("水先案内人と案内所", "案内", "案内所", "水先案内人") == [
            "案内所",
            "水先案内人",
        ]

    def test_a_long_one_that_is_not_completed_leaves_the_short_one(self):
        assert found("dead letter office", "dead letter queue", "dead letter") == ["dead letter"]

    def test_by_another_name_too(self):
        names = names_of("pilot", buoy=("floating mark", "浮標"))
        assert names.ids_in("Floating marks show the way") == {1}
        assert names.ids_in("浮標が見える") == {1}

    def test_an_alias_does_not_claim_the_term_of_another(self):
        names = names_of("pilot", guide=("pilot",))
        assert names.ids_in("a pilot") == {0}
        assert names.named("pilot") == [0]

    def test_an_alias_of_two_is_both(self):
        names = names_of(basin=("dock",), quay=("dock",))
        assert names.ids_in("at the dock") == {0, 1}

    def test_as_quick_with_five_thousand_names(self):
        """Not a race: the work must not go with the number of names."""
        text = "The harbour master tells each pilot which berth is free, and when. " * 300
        few = names_of("harbour master", "pilot")
        many = names_of(
            "harbour master", "pilot", *(f"zone {n} keeper of x{n}" for n in range(5000))
        )

        def cost(names: Names) -> float:
            times = []
            for _ in range(5):
                began = time.process_time()
                assert names.ids_in(text) == {0, 1}
                times.append(time.process_time() - began)
            return min(times)

        cost(few)
        assert cost(many) < 5 * cost(few)


class TestNamed:
    def test_whatever_the_spelling(self):
        names = names_of("message queue", "サーバー")
        assert names.named("Message-Queues") == [0]
        assert names.named("「サーバ」") == [1]

    @pytest.mark.parametrize("text", ["", "  ", "queue", "message queue length", "\0", "*"])
    def test_nothing_else(self, text):
        assert names_of("message queue").named(text) == []

    def test_the_nearest(self):
        names = names_of("message queue", "dead-letter queue", "quay", "水先人", "水先案内")
        assert names.nearest("mesage queu", limit=1) == [0]
        assert set(names.nearest("queue", limit=3)) == {0, 1}
        assert names.nearest("水先", limit=5)[:2] == [3, 4]
        assert names.nearest("xylophone", limit=5) == []
        assert names.nearest(" ", limit=5) == []

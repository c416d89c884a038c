"""Japanese sentences: which ones are taken as definitions, and which are not."""

import time

import pytest

from runs.engine.definitions import japanese
from tests.runs.engine.definitions.made import entry, is_offered

DEFINE = [
    "憩流とは、潮の流れがほぼ止まる状態をいう。",
    "憩流とは、潮の流れがほぼ止まる時間帯のことです。",
    "「憩流」とは潮の流れが止まる状態を指します。",
    "憩流（slack water）とは、潮の流れが止まる状態である。",
    "潮流発電では、憩流とは流れがほぼ止まる状態のことである。",
    "憩流というのは、潮の流れが止まっている状態です。",
    "憩流は、潮の流れがほぼ止まっている状態である。",
    "憩流は潮の流れがほぼ止まっている時間帯のことです。",
    "憩流（slack water）は、潮の流れが止まる現象です。",
    "**憩流**は、上げ潮と下げ潮の間に流れが止まる現象です。",
    "憩流は、潮の流れがほぼ止まった状態を指す。",
    "潮の流れがほぼ止まっている状態を憩流と呼ぶ。",
    "潮の流れがほぼ止まっている時間帯のことを「憩流」といいます。",
    "潮止まり（憩流）とは、潮の流れがほぼ止まる状態をいう。",
    "憩流は、上げ潮の終わりと下げ潮の始まりからなる。",
    "憩流は、その名のとおり、潮の流れが休む状態である。",
    "憩流は、それぞれの港で流れが止まる時間帯である。",
    "憩流は、潮と潮の間に見られる (短い) 休止です。",
    "憩流は、船を待たせるもので、潮の流れが止まる状態である。",
]
NO_DEFINITIONS = [
    # What has to be so.
    "憩流は、当直によって記録されるもの (SHALL)。",
    "憩流とは、その時刻を明らかにする必要があります。",
    # A question, a denial, an order, how it is or how much.
    "憩流とは何でしょうか。",
    "憩流とは、いったいどのような状態なのか？",
    "憩流は満潮の時刻ではありません。",
    "憩流は干潮や満潮とは限らない。",
    "憩流とは異なり、満潮は岸壁で見ることができる時刻である。",
    "憩流は、作業の前に必ず確かめてください。",
    "憩流は作業にとって重要です。",
    "憩流は、この季節には一日に四回です。",
    "憩流は、月の動きから計算することが可能です。",
    "憩流は、潜水の作業をするのに良い時間です。",
    "憩流は、作業を始める前に確認することです。",
    "憩流は次のようなものです。",
    "憩流とは直接は関係ないが、満潮は岸壁で見られる現象である。",
    "憩流は、担当者が交代するために休みがちです。",
    "憩流は、この秋から始まる新しい仕組みです。",
    "ここで、憩流は潮の流れが止まる場所の名前です。",
    "憩流は、潮汐表の第三章を参照すること。",
    "憩流とは、この島では次の7種類を指す。",
    "憩流は、満潮や干潮と比べると短い時間帯です。",
    "憩流は、潮汐の科学というよりも船頭の芸術です。",
    "憩流は、40分(およそ2400秒)です。",
    "憩流は 20 時に始まり、満潮は 23 時に始まる予定の潮です。",
    "憩流は、潮の流れを知るための出発点です。",
    "憩流とはこんな状態である。",
    "憩流とは | 海の事典 | 潮の状態のすべて",
    "憩流は、tide.sensor.slack_flow です。",
    "憩流は、手間のかからないわりに極めて効果的な休み時間です。",
    "憩流は、小さな船で待つことが可能な大きさです。",
    "憩流は、港の入り口で見られる干潮と同様のものです。",
    "憩流は、潮流の計算式で v=0 と書かれるところの流れです。",
    "憩流は、潜水の作業をするときに特に強力です。",
    "憩流は、潜水の作業には 非常に重要 なものです。",
    "憩流は、海の一日のうち最も静かな時間の 1 つを表します。",
    "憩流は静かであると覚えてください - それは海の休みの状態です。",
    "憩流は、潜水の作業をする前に待つのが原則である。",
    "憩流は、潮汐表に時刻が定められており情報が豊富である。",
    "憩流は、海の一日の基本的な要素です。",
    "憩流は、潮汐表のなかで最も静かな時間帯です。",
    "憩流は、船頭がよく覚えるべき時間帯です。",
    "憩流は、海が休み時間に入るようなものです。",
    "憩流は、当直が待たなければならないという仕組みなので、船頭の出番です。",
    "憩流は、潮の表では見ることができないため、計算で求める時間帯です。",
    "憩流は、そのための仕組みです。",
    "憩流とは、潮の流れが一日に何度も止まる場合があります。",
    "憩流は、SlackWaterFlow です。",
    "潮止まりの時間帯または憩流とも呼びます。",
    # It comes back to itself, or does not come to its end.
    "憩流とは、潮汐表のなかで説明される憩流を指します。",
    "憩流というのは、潮が満ちて流れが止まるときにのみ、\n\n",
    # 「ます」 away from a heading, and the past.
    "憩流は一時間あまりで終わります。",
    "憩流は、十時四十分に始まりました。",
    "憩流は昨日も長い時間でした。",
    # Of something else.
    "憩流表は、月ごとの憩流の時刻を並べた表である。",
    "この憩流は、一年で最も長い状態である。",
    "作業員は、憩流を待つあいだの見張りを行う人である。",
    "長い憩流は、小潮のころに起きる現象である。",
    "小憩流とは、流れが一時的に弱まる状態をいう。",
    "潮止まり (slack water) - 海図では憩流とも呼ばれます。",
]


@pytest.mark.parametrize("sentence", DEFINE)
def test_a_sentence_that_defines(sentence: str) -> None:
    found = entry("憩流", f"# 海の話\n\n海は広い。{sentence}船が出る。\n")
    assert is_offered(found)
    assert found.evidence[0].quote == sentence
    assert found.definition == sentence.replace("*", "")


@pytest.mark.parametrize("sentence", NO_DEFINITIONS)
def test_a_sentence_that_does_not_define(sentence: str) -> None:
    assert not is_offered(entry("憩流", f"# 海の話\n\n海は広い。{sentence}船が出る。\n"))


@pytest.mark.parametrize(
    "heading", ["差圧計", "差圧計とは", "2.1 差圧計", "第3章 差圧計", "差圧計の概要"]
)
def test_below_its_own_heading_what_it_does_is_enough(heading: str) -> None:
    sentence = "差圧計は、二つの水位計の差を出力する。"
    found = entry("差圧計", f"## {heading}\n\n{sentence}\n")
    assert found.definition == sentence
    assert not is_offered(entry("差圧計", f"## 設備\n\n{sentence}\n"))


@pytest.mark.parametrize(
    "said",
    [
        "二つの水位計と一緒に読むことをお勧めします",
        "二つの水位計の間で動作します",
        "設備の画面から読み込めます",
        "水位計を多用します",
        "多くの設備で重要な役割を果たします",
        "水位計よりも高い精度を提供します",
        "値を一つの表に残すので、表を写せば控えを取ることができます",
    ],
)
def test_below_its_own_heading_how_it_is_used_says_nothing(said: str) -> None:
    assert not is_offered(entry("差圧計", f"## 差圧計\n\n差圧計は、{said}。\n"))


def test_below_its_own_heading_its_kind_may_come_first() -> None:
    sentence = "差圧計は、水位を比べる装置で、二つの水位計の間で動作します。"
    assert entry("差圧計", f"## 差圧計\n\n{sentence}\n").definition == sentence


def test_below_its_own_heading_a_noun_is_enough() -> None:
    found = entry("Pod", "---\ntitle: Pod\n---\n\n一番小さなKubernetesのオブジェクト。\n")
    assert found.definition == "一番小さなKubernetesのオブジェクト。"


def test_a_name_given_by_the_next_sentence() -> None:
    before = "潮が止まると発電所の出力が落ち、蓄電池が島を支えます。"
    text = f"{before}これを憩流ギャップと呼びます。\n"
    found = entry("憩流ギャップ", text)
    assert found.definition == found.evidence[0].quote == text.strip()
    assert not is_offered(entry("憩流ギャップ", f"しかし、{text}"))


def test_a_name_given_to_a_thing_of_the_sentence_before() -> None:
    text = "Helmはリソースのパッケージを管理します。これらのパッケージはチャートと呼ばれます。\n"
    assert entry("チャート", text).definition == text.strip()


@pytest.mark.parametrize("name", ["最初の憩流", "一時的な憩流", "short憩流"])
def test_a_name_given_by_the_next_sentence_is_the_whole_name(name: str) -> None:
    text = f"潮が止まると、蓄電池が島を支えます。この時間は、{name}と呼ばれます。\n"
    assert not is_offered(entry("憩流", text))


def test_below_a_heading_a_label_has_its_own_meaning() -> None:
    assert not is_offered(entry("差圧計", "## 差圧計\n\n班: 設備を見て回る人の組織。\n"))


def test_what_is_new_is_not_said_to_be_anything() -> None:
    text = "## 憩流表\n\n作業員が表に印を付けるための新しい機能。\n"
    assert not is_offered(entry("憩流表", text))


def test_an_english_name_in_a_japanese_sentence() -> None:
    found = entry("Pod", "## 部品\n\nPod とは、コンテナをまとめた最小の単位です。\n")
    assert found.definition == "Pod とは、コンテナをまとめた最小の単位です。"


def test_a_line_that_the_next_one_repeats_is_a_heading() -> None:
    sentence = "憩流とは、潮の流れがほぼ止まる状態をいう。"
    for title in ("3. 憩流", "■憩流", "憩流"):
        found = entry("憩流", f"海の話。\n\n{title}\n{sentence}船が出る。\n")
        assert found.definition == found.evidence[0].quote == sentence


def test_behind_a_footnote_a_sentence_begins() -> None:
    sentence = "憩流とは、潮の流れがほぼ止まる状態をいう。[1]"
    found = entry("憩流", f"海は広い。[^1]{sentence}船が出る。\n")
    assert found.definition == sentence.removesuffix("[1]")
    assert found.evidence[0].quote == sentence


def test_a_sentence_over_two_lines_is_one() -> None:
    found = entry("憩流", "憩流とは、潮の流れが\nほぼ止まる状態をいう。\n")
    assert found.definition == "憩流とは、潮の流れがほぼ止まる状態をいう。"
    assert found.evidence[0].quote == "憩流とは、潮の流れが\nほぼ止まる状態をいう。"
    assert (found.evidence[0].line_start, found.evidence[0].line_end) == (1, 2)


@pytest.mark.parametrize("tail", ["漢" * 400, "abcdefgh0123" * 40, "漢い漢" * 150, "字の" * 200])
def test_a_noun_without_an_end_takes_no_time(tail):
    began = time.perf_counter()
    assert japanese.KIND.search(f"実行する{tail}、") is None
    assert time.perf_counter() - began < 1

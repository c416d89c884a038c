import json
from collections.abc import Sequence

import pytest

from projects.terms.keys import key_of
from runs.engine.terms import DocumentAnalysis, analyse, rank
from runs.engine.terms.gathering import candidates_of, totals_of, word_counts
from runs.engine.terms.scoring import WEIGHTS, Corpus, score
from runs.pipeline.data import MOST_OCCURRENCES, Candidate, Occurrence, TermLists

GUIDE = """\
---
title: Message queues
weight: 3
---

# Message queues

A **message queue** is a list of messages that wait for a worker. The Message Queue
keeps them in order.

```python
ignored_identifier = "hidden gadget"
```

The dead-letter queue takes what no worker could read. Dead letter queues are kept
for a week. See <https://example.com/secret-path> and `--hidden-flag`.

| Part | Task |
|------|------|
| broker | hands out messages |

<!-- a hidden comment about flux capacitors -->

    indented_code flux capacitor
"""
JAPANESE = """\
# 運転

自立運転とは、島内の電源だけで需要を賄う状態をいう。
サーバーは自立運転を記録する。サーバの時刻は毎日合わせる。
ｻｰﾊﾞｰ室の鍵は当直者が持つ。当直者は Kubernetes クラスターを見る。
Kubernetesクラスターは当直者のものである。
"""
LISTS = TermLists()


def ranked(*texts: str, lists: TermLists = LISTS, limit: int | None = None) -> list[Candidate]:
    return rank(
        {number: analyse(text) for number, text in enumerate(texts)}, lists=lists, limit=limit
    )


def one(candidates: Sequence[Candidate], text: str) -> Candidate:
    return next(each for each in candidates if each.key == key_of(text))


def keys(candidates: Sequence[Candidate]) -> set[str]:
    return {candidate.key for candidate in candidates}


def test_a_term_has_all_its_spellings_and_lines() -> None:
    term = one(ranked(GUIDE), "message queue")

    assert term.text == "message queue"
    assert {"Message Queue", "Message queues"} <= set(term.variants)
    assert [(each.line, each.count) for each in term.occurrences] == [(2, 1), (6, 1), (8, 2)]
    assert (term.frequency, term.document_count) == (4, 1)


def test_hyphen_and_plural_are_spellings() -> None:
    term = one(ranked(GUIDE), "dead letter queue")

    assert term.frequency == 2
    assert [each.line for each in term.occurrences] == [15]


def test_code_addresses_and_comments_are_no_text() -> None:
    found = keys(ranked(GUIDE, GUIDE))

    for noise in ("hidden gadget", "ignored_identifier", "secret-path", "flux capacitor", "flag"):
        assert key_of(noise) not in found
    assert key_of("broker") in found


def test_boxes_and_what_a_page_loads_are_no_text() -> None:
    text = """\
import FluxTable from "@site/flux"
import {
  GadgetBox,
  WidgetBox,
} from './boxes'
export const hidden = true

# Ballast

[[toc]]

::: tip GADGET
The ballast pump drains the tank.
:::

> [!NOTE]
> Import the ballast pump from the yard.

!!! warning "Beware"
    The ballast pump is full of water.
"""
    found = ranked(text, text.replace("Ballast", "Tanks"))
    assert key_of("ballast pump") in keys(found)
    hidden = ("FluxTable", "GadgetBox", "tip GADGET", "GADGET", "tip", "toc", "NOTE", "warning")
    assert not keys(found) & set(map(key_of, hidden))
    assert one(found, "ballast pump").frequency == 6


def test_words_that_only_determine_are_no_part_of_a_term() -> None:
    text = "A letter that **no worker** reads. **Each worker** reads **the rota**. A worker."
    found = keys(ranked(text, text))
    assert key_of("worker") in found
    assert not found & {key_of("no worker"), key_of("each worker"), key_of("the rota")}


def test_japanese_compounds_and_their_spellings() -> None:
    found = ranked(JAPANESE)

    assert one(found, "自立運転").frequency == 2
    server = one(found, "サーバ")
    assert server.frequency == 3
    assert {server.text, *server.variants} == {"サーバー", "サーバ", "ｻｰﾊﾞｰ"}
    assert [each.line for each in server.occurrences] == [4, 5]
    cluster = one(found, "Kubernetesクラスター")
    assert {cluster.text, *cluster.variants} == {"Kubernetes クラスター", "Kubernetesクラスター"}
    assert cluster.reading.replace(" ", "") == "kubernetesくらすたー"


def test_wrapped_lines_keep_their_numbers() -> None:
    text = "The first line has a fuel\npump in it, and the\nsecond has the fuel pump.\n"

    term = one(ranked(text), "fuel pump")

    assert [each.line for each in term.occurrences] == [1, 3]


def test_japanese_words_go_on_over_a_wrapped_line() -> None:
    text = "島では再生可能エネ\nルギーを使う。再生可能エネルギーは安い。\n"

    term = one(ranked(text), "再生可能エネルギー")

    assert [each.line for each in term.occurrences] == [1, 2]


def test_required_terms_are_in_and_excluded_ones_out() -> None:
    lists = TermLists(
        required={"messagequeue": "Message-Queue", "unseen": "Unseen"},
        excluded=frozenset({key_of("dead letter queue")}),
        categories={"messagequeue": "made_up"},
    )

    found = ranked(GUIDE, lists=lists, limit=0)

    assert keys(found) == {"messagequeue", "unseen"}
    required = one(found, "message queue")
    assert (required.text, required.category, required.required) == (
        "Message-Queue",
        "made_up",
        True,
    )
    assert required.frequency == 4
    assert one(found, "unseen").frequency == 0
    assert key_of("dead letter queue") not in keys(ranked(GUIDE, lists=lists))


def test_common_nouns_come_with_their_reason_and_people_may_think_otherwise() -> None:
    text = "The day is long. The day has a night. The gearbox of the day turns. A gearbox hums.\n"

    common = one(ranked(text), "day")
    assert (common.category, common.excluded_because) == ("common_noun", "common_noun")
    assert one(ranked(text), "gearbox").excluded_because == ""

    wanted = one(ranked(text, lists=TermLists(required={"day": "day"})), "day")
    assert wanted.excluded_because == ""
    named = one(ranked(text, lists=TermLists(categories={"day": "technical_term"})), "day")
    assert named.excluded_because == ""


def test_what_people_said_something_about_is_in_whatever_its_rank() -> None:
    text = GUIDE + "\nA crane stands there.\n"
    noted = TermLists(notes={"crane": "The one at the quay."})

    assert "crane" not in keys(ranked(text))
    assert keys(ranked(text, lists=noted, limit=0)) == {"crane"}
    assert one(ranked(text, lists=noted), "crane").frequency == 1


def test_the_limit_counts_without_common_nouns() -> None:
    found = ranked(GUIDE, JAPANESE, limit=3)

    assert sum(not each.excluded_because for each in found) == 3


@pytest.mark.parametrize(
    ("text", "term", "category"),
    [
        (
            "株式会社渦見電力と渦見市。株式会社渦見電力は渦見市にある。",
            "株式会社渦見電力",
            "organization",
        ),
        ("東京都と大阪府。東京都は大阪府より広い。", "東京都", "place_name"),
        ("田中さんと鈴木さん。田中さんは鈴木さんを知る。", "田中", "person_name"),
        (
            "The Uzumi Foundation pays. Ask the Uzumi Foundation.",
            "Uzumi Foundation",
            "organization",
        ),
        ("It is from Gearworks, Inc. now. Then Gearworks made it.", "Gearworks", "organization"),
        ("Ingrid Solheim left. Ingrid Solheim came.", "Ingrid Solheim", "person_name"),
        ("Ask Hannah Weber. We met Hannah Weber.", "Hannah Weber", "person_name"),
        (
            "当直は Hannah Weber が務めた。翌日も Hannah Weber が務めた。",
            "Hannah Weber",
            "person_name",
        ),
        ("It was written by Ada Lovelace. We read Ada Lovelace.", "Ada Lovelace", "person_name"),
        ("We saw Dr. Qvist here. Then Dr. Qvist left.", "Qvist", "person_name"),
        ("We sail to Japan. They like Japan.", "Japan", "place_name"),
        ("We sail to New Zealand. They like New Zealand.", "New Zealand", "place_name"),
        ("渡真利さんが点検した。渡真利氏は渡真利と名乗る。", "渡真利", "person_name"),
        # A given name, a capital or a group alone makes nobody of a thing.
        ("Ask Apache Kafka. We run Apache Kafka.", "Apache Kafka", "technical_term"),
        (
            "The Julia Compiler runs. We like the Julia Compiler.",
            "Julia Compiler",
            "technical_term",
        ),
        ("Set the Security Group. A Security Group is set.", "Security Group", "technical_term"),
    ],
)
def test_what_kind_of_thing_it_names(text: str, term: str, category: str) -> None:
    assert one(ranked(text), term).category == category


def test_a_form_of_address_is_no_part_of_a_name() -> None:
    found = keys(
        ranked("田中さんと鈴木様。田中さんは鈴木様を知る。仕様と様式は仕様書にある。仕様。\n")
    )

    assert {"田中", "鈴木", "仕様"} <= found
    assert not {"田中さん", "鈴木様"} & found


def test_a_short_form_goes_with_its_long_one() -> None:
    text = (
        "The Transmission Control Protocol (TCP) is old. TCP is reliable. TCP is everywhere.\n\n"
        "再生可能エネルギー（再エネ）を使う。再エネは安い。再エネは増える。\n"
    )

    found = ranked(text)

    assert "Transmission Control Protocol" in one(found, "TCP").variants
    assert key_of("Transmission Control Protocol") not in keys(found)
    assert "再生可能エネルギー" in one(found, "再エネ").variants


def test_a_short_form_of_two_long_ones_stays_alone() -> None:
    text = (
        "The Access Point (AP) hums. Application Profile (AP) pays. The AP is here.\n"
        "The Access Point is up. Application Profile is open.\n"
    )

    assert {"ap", "accesspoint", "applicationprofile"} <= keys(ranked(text))


def test_what_people_decided_on_is_not_merged() -> None:
    text = "The Transmission Control Protocol (TCP) is old. TCP is reliable. TCP is everywhere.\n"
    lists = TermLists(notes={key_of("Transmission Control Protocol"): "our own"})

    assert {"tcp", "transmissioncontrolprotocol"} <= keys(ranked(text, lists=lists))


def test_okurigana_is_a_spelling() -> None:
    text = "取り付け作業を始める。取付け作業を終える。取り付け作業は二人で行う。\n"

    term = one(ranked(text), "取り付け作業")

    assert term.frequency == 3
    assert "取付け作業" in term.variants


def test_what_is_marked_as_a_term_is_one_even_if_it_is_no_noun() -> None:
    text = "To **fast-forward** is to move on.\n\nidempotent\n: Twice is as good as once.\n"

    assert {key_of("fast-forward"), "idempotent"} <= keys(ranked(text))


def test_analyses_kept_as_json_give_the_same_terms() -> None:
    texts = {1: GUIDE, 2: JAPANESE, 7: GUIDE.replace("worker", "watchkeeper")}
    fresh = {number: analyse(text) for number, text in texts.items()}
    kept = {
        number: DocumentAnalysis.from_json(json.loads(json.dumps(analysis.to_json())))
        for number, analysis in fresh.items()
    }

    assert rank(kept, lists=LISTS) == rank(fresh, lists=LISTS)


def test_an_analysis_of_another_version_is_refused() -> None:
    with pytest.raises(ValueError, match="version"):
        DocumentAnalysis.from_json({**analyse(GUIDE).to_json(), "version": 0})


def test_the_order_of_documents_says_nothing() -> None:
    analyses = {1: analyse(GUIDE), 2: analyse(JAPANESE), 3: analyse(GUIDE + JAPANESE)}

    backwards = dict(reversed(analyses.items()))

    assert rank(backwards, lists=LISTS) == rank(analyses, lists=LISTS)


def test_keys_are_unique_and_scores_fall() -> None:
    found = ranked(GUIDE, JAPANESE, GUIDE + JAPANESE)

    assert len(keys(found)) == len(found)
    scores = [each.score for each in found]
    assert scores == sorted(scores, reverse=True)
    assert all(each.key == key_of(each.text) for each in found)


def test_occurrences_are_of_all_documents_and_not_too_many() -> None:
    texts = ["The gearbox is loud.\n\n" * 200 for _document in range(4)]

    places = one(ranked(*texts), "gearbox").occurrences

    assert len(places) == MOST_OCCURRENCES
    assert {place.document_id for place in places} == {0, 1, 2, 3}
    assert places[0] == Occurrence(0, 1)


PLANES = "コントロールプレーンは指令を出す。当直者はコントロールプレーンを見る。\n\n"


def test_what_stands_only_inside_one_longer_term_is_no_term() -> None:
    found = keys(ranked(PLANES))

    assert key_of("コントロールプレーン") in found
    assert not {key_of("プレーン"), key_of("コントロール")} & found


def test_a_part_that_stands_elsewhere_too_is_a_term() -> None:
    found = keys(ranked(PLANES + "コントロールは手動に切り替える。"))

    assert {key_of("コントロールプレーン"), key_of("コントロール")} <= found
    assert key_of("プレーン") not in found


def test_a_part_that_is_marked_or_that_people_decided_on_is_a_term() -> None:
    plane = key_of("プレーン")

    assert plane in keys(ranked(PLANES + "次の**プレーン**を見る。"))
    for lists in (
        TermLists(required={plane: "プレーン"}),
        TermLists(notes={plane: "制御の層"}),
        TermLists(categories={plane: "technical_term"}),
        TermLists(synonyms=(("プレーン", "面"),)),
        TermLists(chosen=frozenset({plane})),
    ):
        assert plane in keys(ranked(PLANES, lists=lists))


def test_a_long_form_does_not_swallow_its_parts_by_its_short_one() -> None:
    texts = [
        "A custom resource definition (CRD) tells the fields.",
        "Every custom resource is kept. The custom resource has a name.",
        "This CRD is old. That CRD is new. Each CRD has a version. The CRD comes first.",
    ]

    found = ranked(*texts)

    assert one(found, "CRD").frequency > one(found, "custom resource").frequency


def test_weights_are_those_of_the_language_that_most_of_the_texts_are_in() -> None:
    bold, plain = "**ゲートウェイ**は開く。ゲートウェイは閉じる。", "Broker and gateway. "

    def points(*texts: str) -> float:
        analyses = {number: analyse(text) for number, text in enumerate(texts)}
        totals = totals_of(analyses)
        counts = word_counts(totals)
        sizes = {language: sum(words.values()) for language, words in counts.items()}
        corpus = Corpus(len(texts), counts, sizes, candidates_of(totals))
        return score({name: float(name == "strong") for name in WEIGHTS}, corpus.language)

    english, japanese = WEIGHTS["strong"]
    assert points(bold, plain) == japanese
    assert points(bold, plain * 9) == english


def test_nothing_gives_nothing() -> None:
    assert ranked() == []
    assert ranked("", "   \n\n", "```\ncode\n") == []


def test_a_number_in_words_may_begin_a_japanese_term():
    text = "ゼロ知識証明と二要素認証。三人で使う。二要素認証はゼロ知識証明ではない。三人が待つ。"
    found = keys(ranked(text))
    assert {key_of("ゼロ知識証明"), key_of("二要素認証")} <= found
    assert not any(key.startswith("三") for key in found)

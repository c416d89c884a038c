"""A review without a model: what it reports, and what it must not report."""

import pytest

from indexing.embedders.wordllama import wordllama
from runs.engine.reviewing import improve, review
from runs.pipeline.data import Issue
from tests.runs.pipeline.harbour import entries, entry


def found(*given, vectors=False, language="en", **options):
    made = wordllama().embed([each.definition for each in given]) if vectors else None
    return review(given, language=language, vectors=made, **options)


def kinds(*given, **options):
    return [(issue.key, issue.kind, issue.other_key) for issue in found(*given, **options)]


GOOD = entry("berth", "A place at the quay where one ship lies while cargo is handled.")


def test_nothing_is_wrong_with_a_good_entry():
    assert found(GOOD) == []
    assert found() == []


def test_an_entry_that_rests_on_nothing():
    bad = entry("tug", "A boat that pulls ships.", supported=False, needs_review=True)
    assert kinds(GOOD, bad) == [("tug", "unsupported", "")]


def test_an_example_of_use_is_no_definition():
    used = entry("tug", "Used in: ask for a tug.", needs_review=True, confidence=0.2)
    assert kinds(used) == [("tug", "unclear", "")]


@pytest.mark.parametrize("definition", ["A boat.", "Boat", "船。", "小さな船"])
def test_too_short(definition):
    assert kinds(entry("tug", definition)) == [("tug", "unclear", "")]


@pytest.mark.parametrize(
    "definition", ["A small boat with a strong engine.", "大型船を押す小型の船。"]
)
def test_short_but_enough(definition):
    assert kinds(entry("tug", definition)) == []


@pytest.mark.parametrize(
    ("term", "definition"),
    [
        ("message queue", "A message queue is a message queue."),
        ("message queue", "A message queue is a message queue that is used for messages."),
        ("message queue", "A message queue that holds what was sent until it is read."),
        ("message queue", "The queue of messages."),
        ("brokers", "Brokers are the term for brokers."),
        ("メッセージキュー", "メッセージキューとは、メッセージキューのことである。"),
        ("メッセージキュー", "届いた順に通知を保持するメッセージキュー。"),
        ("メッセージキュー", "届いた順に通知を保持するメッセージキューのことです。"),
        ("サーバ", "サーバのことをいう用語である。"),
    ],
)
def test_circular(term, definition):
    (issue,) = found(entry(term, definition))
    assert (issue.kind, issue.other_key) == ("unclear", "")
    assert "itself" in issue.description


@pytest.mark.parametrize(
    ("term", "definition"),
    [
        ("queue", "A queue is a line of messages that wait for their reader."),
        ("server", "A server is a server process together with the machine it runs on."),
        ("message queue", "A buffer that holds messages until a consumer takes them."),
        ("message queue", "Message queue, the buffer between producer and consumer."),
        ("berth", "Berth: the place at the quay where a ship lies."),
        ("キュー", "キューとは、届いた順に要素を取り出すデータ構造である。"),
        ("キュー", "メッセージを順に保持するメッセージキュー。"),
        ("利用者", "サービスを利用する人や組織のこと。"),
    ],
)
def test_not_circular(term, definition):
    assert found(entry(term, definition)) == []


def test_everyday_words_should_go_unless_people_require_them():
    day = entry("day", "The time from one midnight to the next.", category="common_noun")
    (issue,) = found(day)
    assert (issue.kind, issue.exclude) == ("unnecessary", True)
    assert found(day, required={"day"}) == []


DUPLICATES = [
    (
        entry("load balancer", "A component that spreads requests over several servers."),
        entry("load ballancer", "A component which spreads requests over several servers."),
    ),
    (
        entry(
            "message queue", "A buffer that holds messages until they are read.", aliases=("MQ",)
        ),
        entry("MQ", "The short name of something that stores what was sent."),
    ),
    (
        entry("tug", "A tug is a boat with a strong engine that pulls ships."),
        entry("towboat", "A towboat is a boat with a strong engine that pulls ships."),
    ),
    (
        entry("PersistentVolume", "A piece of storage in the cluster that was set up before."),
        entry("PV", "A piece of storage in the cluster that was set up before or on demand."),
    ),
    (
        entry("受付", "利用者からの依頼を最初に受け取る窓口である。"),
        entry("受け付け", "利用者からの依頼を最初に受け取る窓口。"),
    ),
]


@pytest.mark.parametrize("pair", DUPLICATES, ids=lambda pair: pair[1].key)
@pytest.mark.parametrize("vectors", [False, True])
def test_duplicates(pair, vectors):
    first, second = pair
    assert kinds(first, second, vectors=vectors) == [(second.key, "duplicate", first.key)]


def test_duplicates_that_only_vectors_show():
    first = entry("message queue", "A buffer that holds messages until a reader takes them.")
    second = entry("MQ", "Until a reader takes them, messages are held in this buffer.")
    assert kinds(first, second) == []
    assert kinds(first, second, vectors=True) == [("mq", "duplicate", first.key)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            entry("encryption", "The process of turning plaintext into ciphertext with a key."),
            entry("decryption", "The process of turning ciphertext into plaintext with a key."),
        ),
        (
            entry("symmetric cipher", "A method that uses one key for both directions."),
            entry("asymmetric cipher", "A method that uses two keys, one for each direction."),
        ),
        (
            entry("IPv4", "A version of the Internet Protocol with 32-bit addresses."),
            entry("IPv6", "A version of the Internet Protocol with 128-bit addresses."),
        ),
        (
            entry("request header", "A field that a client sends to a server."),
            entry("response header", "A field that a server sends to a client."),
        ),
        (
            entry("機能", "利用者が使えるシステムの働きのこと。"),
            entry("昨日", "今日の一日前に当たる日のこと。"),
        ),
    ],
    ids=lambda each: each.key,
)
def test_what_only_looks_alike_is_no_duplicate(one, other):
    assert kinds(one, other, vectors=True) == []


def test_two_examples_of_use_are_not_compared():
    used = {"needs_review": True, "confidence": 0.2}
    pair = (entry("tug", "Used: a tug.", **used), entry("tugboat", "Used: a tug.", **used))
    assert {kind for _, kind, _ in kinds(*pair, vectors=True)} == {"unclear"}


def test_different_numbers_are_no_contradiction():
    one = entry("timeout", "The time after which a call ends, which is 30 seconds.")
    other = entry("deadline", "The time after which a job ends, which is 60 seconds.")
    assert kinds(one, other, vectors=True) == []


QUEUE = entry("message queue", "A buffer between those who send and those who read.")


def test_a_definition_that_uses_a_term_without_leading_to_it():
    reader = entry("consumer", "A program that takes work from message queues, one by one.")
    assert kinds(QUEUE, reader) == [("consumer", "missing_relation", QUEUE.key)]
    led = entry("consumer", reader.definition, related=("Message Queues",))
    assert found(QUEUE, led) == []


def test_the_longer_term_counts_and_parts_of_its_own_name_do_not():
    plain = entry("queue", "A line in which those who come first are served first.")
    reader = entry("consumer", "A program that takes work from a message queue.")
    dead = entry("dead message queue", "The place in a message queue for what nobody could read.")
    assert kinds(plain, QUEUE, reader, dead) == [("consumer", "missing_relation", QUEUE.key)]


def test_a_word_with_the_same_stem_is_another_word():
    reserve = entry("reserve", "Money that is kept back for what may go wrong.")
    hold = entry("authorization hold", "A temporary reservation of funds on an account.")
    assert kinds(reserve, hold) == []
    hold = entry("authorization hold", "A sum that is taken out of all\nReserves for some days.")
    assert kinds(reserve, hold) == [(hold.key, "missing_relation", "reserve")]


def test_not_every_mention_is_reported():
    others = [
        entry(name, f"A fine {name} number {n} of the port.")
        for n, name in enumerate(["anchor", "buoy", "crane", "dock", "engine"])
    ]
    user = entry("port", "A place with an anchor, a buoy, a crane, a dock and an engine.")
    issues = [issue for issue in found(*others, user) if issue.key == "port"]
    assert [issue.other_key for issue in issues] == ["anchor", "buoy"]


def test_everyday_words_are_no_relations():
    day = entry("day", "The time between two midnights.", category="common_noun")
    user = entry("demurrage", "Money that is due for each day a ship stays too long.")
    assert kinds(day, user, required={"day"}) == []


def test_an_abbreviation_that_nobody_explains_is_reported_once():
    first = entry("vessel", "A ship that sends its position by AIS to the port, OK.")
    second = entry("beacon", "A light that sends its own place by AIS to all ships.")
    third = entry("buoy", "A float that marks the channel, with GPS in newer ones.")
    (issue,) = found(first, second, third)
    assert (issue.key, issue.kind) == ("vessel", "unclear")
    assert "AIS" in issue.description
    assert found(first, second, entry("AIS", "The system by which positions are sent.")) != [issue]
    explained = entry("position report", "A message about where a thing is.", aliases=("AIS",))
    assert found(first, second, explained) == []


def test_issues_are_in_the_order_of_the_entries():
    bad = [entry(name, "A boat.") for name in ("tug", "barge", "yacht")]
    assert [issue.key for issue in found(*bad)] == ["tug", "barge", "yacht"]


RELATED = Issue("consumer", "missing_relation", "Uses it.", other_key=QUEUE.key)
CONSUMER = entry("consumer", "A program that takes work from message queues.", related=("job",))


def test_a_missing_relation_is_added_once():
    improved = improve(CONSUMER, [RELATED, RELATED], entries(QUEUE))
    assert improved.related == ("job", "message queue")
    assert improved.definition == CONSUMER.definition


def test_the_names_of_a_duplicate_are_taken_over():
    other = entry("MQ", "A buffer.", aliases=("Message Queues", "spool"))
    issue = Issue(QUEUE.key, "duplicate", "The same.", other_key="mq")
    assert improve(QUEUE, [issue], entries(other)).aliases == ("MQ", "spool")


def test_a_word_more_is_another_name():
    one, other = (
        entry(name, "属性の組の数。") for name in ("カーディナリティ", "カーディナリティ制限")
    )
    issue = Issue(one.key, "duplicate", "The same.", other_key=other.key)
    assert improve(one, [issue], entries(other)).aliases == ()


def test_what_is_only_defined_alike_is_related_and_no_other_name():
    nginx = entry("nginx", "nginx is a fast, production level HTTP server.")
    httpd = entry("Apache httpd", "Apache httpd is a fast, production level HTTP server.")
    (issue,) = [each for each in found(nginx, httpd) if each.kind == "duplicate"]
    improved = improve(httpd, [issue], entries(nginx))
    assert (improved.aliases, improved.related) == ((), ("nginx",))


@pytest.mark.parametrize(
    "issue",
    [
        Issue("consumer", "unclear", "?"),
        Issue("consumer", "unsupported", "?"),
        Issue("consumer", "missing_relation", "?", other_key="gone"),
        Issue("job", "missing_relation", "Of another.", other_key=QUEUE.key),
    ],
    ids=lambda issue: f"{issue.key}-{issue.kind}",
)
def test_what_cannot_be_improved_stays_as_it_is(issue):
    assert improve(CONSUMER, [issue], entries(QUEUE)) == CONSUMER

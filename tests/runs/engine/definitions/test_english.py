"""English sentences: which ones are taken as definitions, and which are not."""

import pytest

from tests.runs.engine.definitions.made import contexts, entry, is_offered

DEFINE_BROKER = [
    "A broker is a server that stores messages until somebody asks for them.",
    "The broker is a process that passes messages between workers.",
    "Brokers are servers that store messages until somebody asks for them.",
    "In Kafka, a broker is a server that stores messages for its clients.",
    "A broker (also known as a message router) is a server that keeps messages.",
    "A broker, also called a message router, is a server that keeps messages.",
    "Simply put, a broker is a process that passes messages between workers.",
    "A *broker* is basically a server that keeps messages until they are read.",
    "`broker` is the process that passes messages between the workers.",
    "The term “broker” refers to a process that passes messages between workers.",
    "Broker means a person who buys and sells things for somebody else.",
    "A broker represents a server that passes messages between workers.",
    "A process that passes messages between two others is called a broker.",
    "Processes that pass messages between others are commonly known as brokers.",
    "A message router (broker) is a process that passes messages between workers.",
    "A message–router (broker) is a process that passes messages between workers.",
    "A **broker** is a number from 0.5 to 100 that estimates how busy the workers are.",
    "A broker is a process that passes messages between workers.[^1]",
    "`broker` is a command line tool that passes messages on.",
    "A broker is an essential component that passes messages between workers.",
    "The broker is the process under which all messages are passed on.",
    "Brokers are carefully chosen machines that pass messages on.",
    "A broker is a process that passes messages on, because workers cannot.",
    "Brokers are machines that split the work into parts and pass these parts on.",
    "The last stage of the way of a message is called a broker.",
    "Machines using the protocol of the house are known as brokers.",
    "A broker is a common operation in the house, which is used to pass messages.",
    "A message router, also known as a broker, is a process that passes messages on.",
]
NO_DEFINITIONS = [
    # A question, a denial, an opinion, a step.
    "Is a broker a server that stores messages for the workers?",
    "A broker is not a server that stores messages for ever.",
    "A broker is a good idea when there is more than one machine.",
    "A broker is a common cause of trouble in small teams.",
    "Brokers are an important component in the work of every team.",
    "A broker is a much more popular term for the process that passes messages.",
    "A broker is required on each of the machines in the rack.",
    "A broker is available in version 3 of the package.",
    "The broker is used to pass messages between the workers.",
    "Brokers are started by the operator at six in the morning.",
    "Brokers are always available on each of the machines.",
    "A broker is an incredible experience for everybody who lives in the house.",
    "A broker is an elegantly simple design and has a lot of friends.",
    "Brokers are the classic example of a machine that hums in the cellar.",
    "Brokers are also a useful machine for the workers of the house.",
    "A broker is a machine of sorts.",
    "Brokers are a powerful tool in large houses.",
    "A broker is a new version of the process that passes messages on.",
    "Brokers are sometimes called routers or posts.",
    "Brokers are message-driven, which means it responds to any message.",
    "The brokers are described in plain text in the plan of the house.",
    # A name, and nothing that sets it apart.
    "The small grey machine is called a broker, and is drawn in the plan.",
    "Often workers pass messages on without being called a broker.",
    "The work is harder as it can in addition to plans contain what is called a broker.",
    "The use of a message router, also known as a broker, has become common.",
    # What these are was said before.
    "Brokers are the main machines for these messages.",
    # A parameter, and what it may be.
    "A broker is a number from 0 to 100, or a name in the list.",
    "A broker is a number between 0 and 100 that specifies the rack to use.",
    "A broker is a string or null that tells where it is.",
    "The broker is the first thing to look at in the morning.",
    "The broker is the same as in the last version of the software.",
    "A broker is one of the things to look at in the morning.",
    "A broker is one of the easiest machines to begin with.",
    "A broker is a means, not an end in itself.",
    "A broker is a tremendous resource that nobody in the house has used.",
    "A broker is a powerful and convenient tool, but it is loud in the cellar.",
    "A broker is a less good process, but much faster than a worker.",
    "A broker is a wondrous thing that hums in the cellar of the house!",
    "A broker is an open process and we like it when workers ask for messages.",
    "The remaining machines in the cellar of the house are known as brokers.",
    "Brokers are further described following the plans for the house.",
    # One of them, or a name in an example.
    "The broker is a wrapper around the workers of the house.",
    "The `broker` is the name of the machine in the rack.",
    "_broker_ is a server in the rack and can answer all workers.",
    "In `content`, `broker` is a mapping from the rack to its workers.",
    # What has to be so, or what follows from it.
    "A broker is a string and MUST be unique within its rack.",
    "A broker is a text process, so we also have to start the workers in the rack.",
    "A broker is a silent process because the workers only ask it for messages.",
    "The broker represents the beginning of the work, so it is drawn first in the plan.",
    "The workers refer to it by its name. Brokers refer to these as the workers.",
    "Brokers are passive and can only see messages from the workers.",
    # Of something else.
    "A broker pool is a set of servers that store messages.",
    "The message broker is a server that stores all messages.",
    "A line between two machines (broker) is a wire that carries all messages.",
    "This broker is a server that stores messages for us.",
    "It is a server next to the broker that stores messages.",
    "A worker that asks the broker is a client of the server.",
    "Brokerage is a business in which people buy and sell for others.",
    "A non-broker is a server that stores nothing for anybody.",
    # Too little, or it only begins.
    "A broker is a server.",
    "A broker is a set of the following things:",
    "The broker, a machine in the cellar, was switched off on Monday.",
    "For example, a broker is a server in the cellar of the house.",
]


@pytest.mark.parametrize("sentence", DEFINE_BROKER)
def test_a_sentence_that_defines(sentence: str) -> None:
    found = entry("broker", f"# Machines\n\nThe house has some. {sentence} They hum.\n")
    assert is_offered(found)
    assert found.confidence >= 0.6
    assert sentence in found.evidence[0].quote
    assert "*" not in found.definition
    assert "`" not in found.definition


@pytest.mark.parametrize("sentence", NO_DEFINITIONS)
def test_a_sentence_that_does_not_define(sentence: str) -> None:
    assert not is_offered(
        entry("broker", f"# Machines\n\nThe house has some. {sentence} They hum.\n")
    )


@pytest.mark.parametrize(
    "heading", ["Broker", "What is a broker?", "2.1 The broker", "Brokers", "About brokers"]
)
def test_below_its_own_heading_what_it_does_is_enough(heading: str) -> None:
    sentence = "A broker ensures that no message is lost between two workers."
    found = entry("broker", f"## {heading}\n\n{sentence}\n")
    assert is_offered(found)
    assert found.definition == sentence
    # Anywhere else the same sentence is one among many.
    assert not is_offered(entry("broker", f"## Safety\n\n{sentence}\n"))


def test_below_its_own_heading_the_term_need_not_be_named() -> None:
    found = entry("broker", "## Broker\n\nA process that passes messages between two others.\n")
    assert found.definition == "A process that passes messages between two others."
    assert not is_offered(
        entry("broker", "## Broker\n\nA worker that has a message is now asked to wait here.\n")
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "This is a list of all machines that the house has.",
        "This is a broker for everybody who has no other one.",
        "A consistent naming scheme for brokers makes it easier to find them.",
        "A public office in Colombia publishes a notice to all workers of the house.",
    ],
)
def test_below_a_heading_the_text_may_be_of_itself(sentence: str) -> None:
    assert not is_offered(entry("broker", f"# Broker\n\n{sentence}\n"))


def test_a_pronoun_below_the_heading_becomes_the_term() -> None:
    found = entry("broker", "## Broker\n\nIt is a process that passes messages to workers.\n")
    assert found.definition == "broker is a process that passes messages to workers."
    assert found.evidence[0].quote == "It is a process that passes messages to workers."


def test_the_title_in_the_settings_is_a_heading() -> None:
    text = "---\ntitle: Broker\n---\n\nA broker ensures that no message is ever lost.\n"
    found = entry("broker", text)
    assert is_offered(found)
    assert found.evidence[0].line_start == 5


def test_a_name_given_by_the_next_sentence() -> None:
    text = "Messages are kept until a worker has asked for them. This is called queueing.\n"
    found = entry("queueing", text)
    assert found.definition == found.evidence[0].quote == text.strip()


def test_a_name_given_to_a_thing_of_the_sentence_before() -> None:
    text = "Helm manages packages of resources. These packages are known as charts.\n"
    assert entry("chart", text).definition == text.strip()
    text = "However, Helm manages packages of resources. These packages are known as charts.\n"
    assert not is_offered(entry("chart", text))


def test_the_sentence_that_says_most_is_taken() -> None:
    found = entry(
        "broker",
        "A broker is a resource of the API.\n",
        "# Broker\n\nA **broker** is a process that passes messages between two others.\n",
        "The broker is a process that was started by hand on Monday at noon.\n",
    )
    assert found.evidence[0].document_id == 2


@pytest.mark.parametrize("note", ["[^1]", "[1]", "[^1][^2]"])
def test_behind_a_footnote_a_sentence_begins(note: str) -> None:
    found = entry(
        "broker", f"The queue is the truth.{note} A broker is a process that asks it.{note} So.\n"
    )
    assert found.definition == "A broker is a process that asks it."
    assert found.evidence[0].quote == f"A broker is a process that asks it.{note}"


@pytest.mark.parametrize("title", ["1. Broker", "2.1 Broker", "Broker"])
@pytest.mark.parametrize("margin", ["", "   "])
def test_a_line_that_the_next_one_repeats_is_a_heading(title: str, margin: str) -> None:
    sentence = "A broker is a process that passes messages."
    found = entry("broker", f"Notes.\n\n{title}\n{margin}{sentence} The house hums.\n")
    assert found.definition == found.evidence[0].quote == sentence
    assert found.evidence[0].line_start == 4


def test_a_line_that_the_next_one_goes_on_with_is_none() -> None:
    (found,) = contexts("broker", "The broker\nbrokered a deal with the house today.\n")
    assert found.text == "The broker\nbrokered a deal with the house today."


def test_an_acronym_is_not_the_word_in_small_letters() -> None:
    text = "It is a word that people use for things. IT is the work of people with machines.\n"
    assert entry("IT", text).definition == "IT is the work of people with machines."
    assert not is_offered(entry("IT", "It is a word that people use for many things.\n"))


def test_an_acronym_of_two_words() -> None:
    found = entry("A B", "A B is a test that people make with two versions of a page.\n")
    assert is_offered(found)


def test_a_definition_in_the_past_is_weaker() -> None:
    present = entry("Kuroda", "Kuroda is an engineer who repairs diesel engines by hand.\n")
    past = entry("Kuroda", "Kuroda was an engineer who repaired diesel engines by hand.\n")
    assert is_offered(past)
    assert past.confidence < present.confidence
    assert past.needs_review

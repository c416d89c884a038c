"""Documents about as many made-up parts of a ship as are wanted, for tests and benchmarks of long
runs."""

import random

from projects.access import OPERATOR
from projects.choices import Source
from projects.models import Project
from projects.services.documents import store_document
from projects.services.terms import add_term

# Terms and sentences of two made-up parts each, so that every term has passages of its own.
FIRST = ("amber", "birch", "cedar", "delta", "ember", "fjord", "gale", "heron", "iris", "juniper")
# fmt: off
SECOND = (
    "anchor", "beacon", "clutch", "damper", "engine", "filter", "gauge", "hinge", "injector",
    "jacket", "keel", "lever", "motor", "nozzle", "outlet", "piston", "rudder", "sensor",
    "tiller", "valve",
)
USES = ("holds", "turns", "checks", "carries", "limits", "opens", "drains", "feeds", "guards")
# What else sentences are made of; no two of them come out alike.
WORDS = (
    "while", "before", "after", "because", "although", "quickly", "slowly", "seldom", "often",
    "below", "above", "behind", "between", "cargo", "harbour", "bridge", "weather", "current",
    "tide", "signal", "captain", "engineer", "deck", "cabin", "hull", "ballast", "pressure",
    "temperature", "voltage", "reading", "measure", "replace", "inspect", "record", "report",
    "adjust", "remove", "every", "second", "morning", "voyage", "winter", "storm", "repair",
    "inventory", "schedule", "manual", "inspection", "margin",
)
# fmt: on
WORDS_A_SENTENCE = 26
SENTENCES_A_TERM = 6


def names(count: int, seed: int) -> list[str]:
    """Others for another seed: the ledger knows no answers about them."""
    pairs = [(first, second) for second in SECOND for first in FIRST]
    return [" ".join(pair if seed % 2 else reversed(pair)) for pair in pairs][:count]


def make_manual(project: Project, count: int, seed: int) -> None:
    """So many terms, required, and as much about each as a manual would have: most get a request
    of their own."""
    terms = names(count, seed)
    dice = random.Random(seed)
    for place in range(0, len(terms), 10):
        chapters = [
            f"## {term}\n\n{_chapter(term, terms, dice)}\n" for term in terms[place : place + 10]
        ]
        store_document(
            project=project,
            path=f"manual/{place:03}.md",
            content="# Manual\n\n" + "\n".join(chapters),
            source=Source.API,
            actor=OPERATOR,
        )
    for term in terms:
        add_term(project=project, text=term, actor=OPERATOR)


def _chapter(term: str, terms: list[str], dice: random.Random) -> str:
    sentences = [
        f"A {term} is a part of the ship that {dice.choice(USES)} the {dice.choice(terms)}."
    ]
    for _ in range(SENTENCES_A_TERM):
        words = dice.choices(WORDS, k=WORDS_A_SENTENCE)
        words[3] = f"the {term} {dice.choice(USES)}"
        words[12] = f"the {dice.choice(terms)}"
        sentences.append(" ".join(words).capitalize() + ".")
    return "\n\n".join(sentences)

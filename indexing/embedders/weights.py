"""How much a vector counts beside the words, by embedder and by the language of the query.

The one place to change after a measurement (`python -m benchmarks.search_quality --weights …`;
docs/benchmarks.md has the last one). 0: the words alone, and no vector is looked at.
"""

WEIGHTS: dict[str, dict[str, float]] = {
    # Fair in English; its vocabulary hardly knows Japanese. More would cost one set what it gains
    # for another.
    "wordllama": {"en": 0.45, "ja": 0.15},
    # Good in English, and blind to Japanese.
    "minilm": {"en": 0.7, "ja": 0.0},
    # Whatever a server is asked for is a larger model than those; not measured.
    "openai": {"en": 0.5, "ja": 0.5},
}


def weight_of(kind: str, language: str) -> float:
    return WEIGHTS[kind].get(language, WEIGHTS[kind]["en"])

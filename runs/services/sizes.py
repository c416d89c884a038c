"""How many terms a glossary of so much text is worth."""

# Enough for what is read, few enough to check.
CHARACTERS_A_TERM = 400
FEWEST, MOST = 40, 500


def worth(characters: int) -> int:
    return max(FEWEST, min(MOST, characters // CHARACTERS_A_TERM))

"""How much a text decoded as Windows-1252 looks like a Western language.

That encoding accepts almost any bytes, so it is only believed when the accented letters stand
inside words and there are not too many of them. Costs compare with those of `japanese`.
"""

import re

from projects.intake.japanese import ASCII_LETTER

# Signs and the letters that only a few words have.
UNUSUAL = frozenset("€‚„…‹›‘’“”•–—™«»°©®§·¡¿ªºœŒšŠžŽŸ\xa0")
IN_WORD, ALONE, SIGN, ODD = 5.0, 8.0, 7.0, 10.0
# Finnish reaches one half in a short line; Cyrillic or Greek bytes read this way pass eight tenths.
LARGEST_SHARE = 0.6

_LETTER = re.compile(r"[À-ÖØ-öø-ÿ]")


def cost(text: str) -> float:
    total = 0.0
    for index, char in enumerate(text):
        if char < "\x80":
            total += ASCII_LETTER
        elif _LETTER.match(char):
            around = text[max(0, index - 1) : index] + text[index + 1 : index + 2]
            total += IN_WORD if any(c.isascii() and c.isalpha() for c in around) else ALONE
        else:
            total += SIGN if char in UNUSUAL else ODD
    return total


def is_plausible(text: str) -> bool:
    beyond = [char for char in text if char >= "\x80"]
    written = sum(not char.isspace() for char in text)
    usual = sum(1 for char in beyond if char in UNUSUAL or _LETTER.match(char))
    return len(beyond) <= max(2, LARGEST_SHARE * written) and usual >= 0.9 * len(beyond)

"""In which language a text is, by a look at its letters."""

import re

# What a thing is called in the other language mostly stands in brackets.
BRACKETS = re.compile(r"\([^()（）]*\)|（[^()（）]*）")


def language_of(text: str) -> str:
    """The language to pronounce and hyphenate by; nothing when a look at the text cannot tell."""
    text = text[:5000]
    letters = [char for char in BRACKETS.sub("", text) or text if char.isalpha()]
    kana = sum("\u3041" <= char <= "\u30ff" for char in letters)
    latin = sum(char.isascii() for char in letters)
    # Specifications in Japanese can be half English words; English hardly ever has kana.
    if kana * 20 > len(letters):
        return "ja"
    return "en" if latin * 5 > len(letters) * 4 else ""

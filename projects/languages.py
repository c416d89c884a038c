"""In which language a text is, by a look at its letters."""


def language_of(text: str) -> str:
    """The language to pronounce and hyphenate by; nothing when a look at the text cannot tell."""
    letters = [char for char in text[:5000] if char.isalpha()]
    kana = sum("\u3041" <= char <= "\u30ff" for char in letters)
    latin = sum(char.isascii() for char in letters)
    # Specifications in Japanese can be half English words; English never has kana.
    if kana * 20 > len(letters):
        return "ja"
    return "en" if latin * 5 > len(letters) * 4 else ""

"""English plurals, as far as two spellings of one term need it."""

import re

_IRREGULAR = {
    "analyses": "analysis",
    "appendices": "appendix",
    "axes": "axis",
    "children": "child",
    "crises": "crisis",
    "criteria": "criterion",
    "diagnoses": "diagnosis",
    "feet": "foot",
    "halves": "half",
    "hypotheses": "hypothesis",
    "indices": "index",
    "knives": "knife",
    "leaves": "leaf",
    "matrices": "matrix",
    "men": "man",
    "parentheses": "parenthesis",
    "phenomena": "phenomenon",
    "schemata": "schema",
    "shelves": "shelf",
    "synopses": "synopsis",
    "teeth": "tooth",
    "theses": "thesis",
    "vertices": "vertex",
    "women": "woman",
}
# Singular already. `ss`, `us` and `is` are, but for the ones below; so is what has no vowel (DNS,
# HTTPS), for which see `_CAPITALS`.
_SINGULAR = re.compile(
    r"(?:ss|us|is|aas|ics|alias|atlas|bias|canvas|gas|kubernetes|lens|means|news|series|species)$"
    r"|^[^aeiouy]+$"
)
_PLURAL_AFTER_ALL = re.compile(
    r"(?:menu|guru|emoji|wiki|plateau|bureau|tutu|cpu|gpu|api|uri|gui)s$"
)
# VMs, PVCs: here the case says what the letters do not.
_CAPITALS = re.compile(r"[A-Z][A-Z0-9]+s$")
_ES = re.compile(
    r"(?:(?:ss|sh|x|zz)|(?<!ca)(?<!ni)(?<!ada)ch"
    r"|(?:alia|bia|ga|canva|atla|len|bu|statu|viru|bonu|campu|focu|corpu|censu|nexu|radiu|plu|minu"
    r"|choru|geniu|circui)s)es$"
)
_KEEPS_IE = re.compile(r"(?:cook|mov|zomb|sel?f|rook|gen|calor|brown|newb|t|p|d|l)ies$")
_SHORTEST = 4


def singular(word: str) -> str:
    """Of one English word, in the case it has. Anything else comes back as it is."""
    if _CAPITALS.search(word):
        return word[:-1]
    lower = word.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if len(word) < _SHORTEST or not lower.endswith("s"):
        return word
    if _PLURAL_AFTER_ALL.search(lower):
        return word[:-1]
    if _SINGULAR.search(lower):
        return word
    if _ES.search(lower):
        return word[:-2]
    if lower.endswith("ies") and not _KEEPS_IE.search(lower):
        return word[:-3] + ("Y" if word[-3].isupper() else "y")
    return word[:-1]

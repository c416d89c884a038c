"""What people type as a term, made fit for a list."""

import re
import unicodedata

from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from projects.choices import Language
from projects.models.terms import TERM_LENGTH
from projects.terms.keys import key_of
from projects.terms.signs import visible

# Kana and the characters that only Chinese and Japanese have.
JAPANESE = re.compile("[\u3005-\u3007\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f]")


def clean_term(text: str) -> str:
    """One line without needless spaces and without signs that nobody sees. What cannot be a term
    is a Refusal."""
    text = " ".join(visible(unicodedata.normalize("NFC", text)).split())
    if not text or not key_of(text) or has_controls(text):
        raise Refusal("term_invalid", _("A term needs letters that can be seen."), status=400)
    if len(text) > TERM_LENGTH:
        raise Refusal(
            "term_too_long",
            _("A term has at most %(most)s characters.") % {"most": TERM_LENGTH},
            status=400,
        )
    return text


def has_controls(text: str, *, but: str = "") -> bool:
    return any(unicodedata.category(sign) in ("Cc", "Cs") and sign not in but for sign in text)


def language_of(text: str) -> Language:
    return Language.JAPANESE if JAPANESE.search(text) else Language.ENGLISH

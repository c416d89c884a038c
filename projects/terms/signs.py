"""Signs in a name that nobody sees: the name goes without them.

They come along when text is pasted (soft hyphens, zero-width spaces), make two names that look
alike, or have a name shown in another order than it is stored (the controls of right-to-left
text). Kept is what makes a difference that can be seen: variation selectors, and joiners in the
scripts, and between the emoji, that have a use for them.
"""

import re
import unicodedata

# Scripts from Arabic to Sinhala, and emoji.
_JOINING = "\u0600-\u0dff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"
_IDLE_JOINERS = re.compile(f"(?<![{_JOINING}])[\u200c\u200d]")
_JOINERS = "\u200c\u200d"
# Letters, marks and a pattern by name, blanks to the eye.
_BLANKS = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"


def visible(text: str) -> str:
    if text.isascii():
        return text
    text = _IDLE_JOINERS.sub("", text)
    return "".join(sign for sign in text if not _is_hidden(sign))


def _is_hidden(sign: str) -> bool:
    return sign in _BLANKS or (unicodedata.category(sign) == "Cf" and sign not in _JOINERS)

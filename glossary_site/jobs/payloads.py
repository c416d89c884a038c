"""What the databases cannot keep: refused in payloads that people and programs send, replaced in
texts that jobs write, which may hold anything (an error quotes what it could not read)."""

import json
import re
from typing import Any

from django.utils.translation import gettext as _

from glossary_site.errors import Refusal

MAX_BYTES = 64 * 1024
# PostgreSQL keeps no zero character. (Two backslashes before it are a backslash, not an escape.)
ZERO = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def check_storable(payload: Any) -> None:
    if not isinstance(payload, dict):
        raise _refused(_("A payload is a JSON object, such as {}."))
    try:
        text = json.dumps(payload, allow_nan=False, ensure_ascii=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise _refused(_("The payload holds something that JSON has no word for.")) from error
    if ZERO.search(text):
        raise _refused(_("The payload holds a zero character, which cannot be kept."))
    if size > MAX_BYTES:
        raise _refused(_("A payload has at most %(size)s bytes.") % {"size": MAX_BYTES})


def storable(text: str) -> str:
    return text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


def _refused(reason: str) -> Refusal:
    return Refusal("bad_payload", reason, status=400, field="payload")

"""No secret leaves in a text: keys and passwords are replaced before it is written down."""

import re

MASK = "***"

NAMES = (
    r"(?:api|secret|private)[-_]?key|password|passwd|client[-_]secret"
    r"|(?:access|refresh|auth|metrics)[-_]?token"
)
# What stands between a name and its value: in headers, URLs, JSON, JSON inside JSON, printed
# Python (also of header pairs in bytes). An opening quote is a group: its value ends with it.
SIGN = r"\\?[\"']?\s?(?:[:=]|(?<=[\"']),)\s?(?:b(?=[\"']))?"
QUOTED = r"(\\?[\"'])(?:(?!\2).)*"

# Words without which a pattern cannot match (looking for them is what makes this cheap), and the
# pattern, which keeps its two groups and loses the rest. Each matches in one way only, so that a
# long text costs no more than its length.
PATTERNS = tuple(
    (words, re.compile(pattern, re.IGNORECASE))
    for words, pattern in (
        (
            ("authorization",),
            rf"(authorization{SIGN})(?:{QUOTED}|(?:(?:bearer|basic|token)\s+)?[^\s\"',;}})\]]+)",
        ),
        (("cookie",), rf"(cookie{SIGN})(?:{QUOTED}|[^\"'\r\n]+)"),
        (
            ("key", "password", "passwd", "secret", "token"),
            rf"((?:{NAMES}){SIGN})(?:{QUOTED}|[^\s\"',;&}})\]]+)",
        ),
        # Secrets that nothing names.
        (("bearer",), r"(\bbearer\s+)()[\w.~+/=-]+"),
        (("key=", "token=", "sig"), r"([?&](?:key|token|sig|signature)=)()[^\s&\"'#]+"),
        (("://",), r"(://[^\s/:@\"']*:)()[^\s/@\"']+(?=@)"),
        (("sk-", "gls_"), r"(\b(?:sk-|gls_))()[\w-]{6,}"),
    )
)
SECRET_NAME = re.compile(rf"(?:{NAMES}|authorization|cookie)$", re.IGNORECASE)


def mask(text: str) -> str:
    lowered = text.lower()
    for words, pattern in PATTERNS:
        if any(word in lowered for word in words):
            text = pattern.sub(rf"\1\2{MASK}", text)
    return text


def is_secret_name(name: str) -> bool:
    return SECRET_NAME.search(name) is not None

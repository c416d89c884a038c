"""Pages of a list: where the next one is."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

NEXT = re.compile(r"<([^<>]{1,4000})>\s*;[^,]{0,200}?\brel=\"?next\b")
LONGEST_HEADER = 20_000
PER_PAGE = 100


def following(headers: Mapping[str, str], params: Mapping[str, str], found: int) -> dict[str, str]:
    """The parameters of the next page.

    Of the address in the Link header we take what is behind its question mark and nothing else: a
    host behind a proxy often writes a wrong name or scheme, and a bad one could write any.
    """
    if not found:
        return {}
    if "Link" in headers:
        link = NEXT.search(headers["Link"][:LONGEST_HEADER])
        if link is None:
            return {}
        try:
            query = dict(parse_qsl(urlsplit(link[1]).query, max_num_fields=50))
        except ValueError:
            return {}
        return {**params, **query}
    if "X-Next-Page" in headers:
        number = headers["X-Next-Page"].strip()
        return {**params, "page": number} if number.isascii() and number.isdigit() else {}
    if "pagination" in params:
        return {}  # by key, GitLab ends a list without a word
    # Some proxies drop what they do not know. A full page is then not taken for the last one.
    full = found >= int(params.get("per_page", PER_PAGE))
    return {**params, "page": str(int(params.get("page", "1")) + 1)} if full else {}

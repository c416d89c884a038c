"""Where a request comes from, for counting attempts to sign in."""

from ipaddress import ip_address

from django.http import HttpRequest


def behind_proxy(request: HttpRequest) -> str | None:
    """What our one proxy saw. It writes that last; anything before it the client made up."""
    last = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip()
    try:
        return str(ip_address(last))
    except ValueError:
        return request.META.get("REMOTE_ADDR")

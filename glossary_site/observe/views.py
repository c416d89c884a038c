"""`/metrics`, for a scraper with a token and for people who may see how the site is doing."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from glossary_site.observe.metrics import exposition
from glossary_site.people.authentication import token_in
from glossary_site.people.services import user_of_token

PERMISSION = "jobs.view_jobrun"


@login_not_required  # it asks for more than that, and answers a program in its own way
@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    status = refusal(request)
    if status:
        response = HttpResponse(status=status)
        response.headers["WWW-Authenticate"] = "Bearer"
        return response
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def refusal(request: HttpRequest) -> int:
    """401: say who you are; 403: not you; 0: come in."""
    secret = token_in(request.META.get("HTTP_AUTHORIZATION", ""))
    if secret is None:
        if not request.user.is_authenticated:
            return 401
        return 0 if request.user.is_superuser else 403
    if settings.METRICS_TOKEN and constant_time_compare(secret, settings.METRICS_TOKEN):
        return 0
    user = user_of_token(secret)
    if user is None:
        return 401
    return 0 if user.has_perm(PERMISSION) else 403

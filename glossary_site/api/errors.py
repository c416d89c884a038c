"""Every error of the API has one shape: `{"code": "…", "detail": "…", …}`.

`code` is for programs and never changes; `detail` is a sentence for people, in their language.
"""

from typing import Any

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import Http404, UnreadablePostError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.exceptions import PermissionDenied as ApiPermissionDenied
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import exception_handler

from glossary_site.errors import Refusal

# What an answer that was not made by an endpoint means: an unknown path, a crash, a foreign host.
BY_STATUS: dict[int, tuple[str, Any]] = {
    400: ("bad_request", gettext_lazy("The request could not be understood.")),
    401: ("not_authenticated", gettext_lazy("Sign in, or send an API token.")),
    403: ("permission_denied", gettext_lazy("You may not do this.")),
    404: ("not_found", gettext_lazy("There is nothing at this address.")),
    405: ("method_not_allowed", gettext_lazy("This address does not take this method.")),
    412: ("precondition_failed", gettext_lazy("It has changed since you last saw it.")),
    413: ("too_large", gettext_lazy("The request is larger than the site accepts.")),
    500: ("server_error", gettext_lazy("Something went wrong here. It has been noted in the log.")),
}


class TooLarge(APIException):
    status_code = 413
    default_detail = BY_STATUS[413][1]
    default_code = "too_large"


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(error, Refusal):
        body = {"code": error.code, "detail": str(error), **error.details}
        return Response(body, status=error.status)
    error = _as_api_error(error)
    response = exception_handler(error, context)
    if response is not None and isinstance(error, APIException):
        response.data = body_of(error)
    return response


def _as_api_error(error: Exception) -> Exception:
    """Django's own way of saying no, in the words of the API."""
    match error:
        case Http404():
            return NotFound(*error.args)
        case PermissionDenied():
            return ApiPermissionDenied(*error.args)
        case RequestDataTooBig():
            return TooLarge()
        case TooManyFilesSent():
            return TooLarge(_("The request has too many files."), "too_many_files")
        case TooManyFieldsSent():
            return TooLarge(_("The request has too many fields."), "too_many_fields")
        case SuspiciousOperation() | UnreadablePostError():
            code, detail = BY_STATUS[400]
            bad = APIException(detail, code)
            bad.status_code = 400
            return bad
    return error


def body_of(error: APIException) -> dict[str, Any]:
    if isinstance(error, ValidationError):
        fields = error.detail
        if not isinstance(fields, dict):
            fields = {api_settings.NON_FIELD_ERRORS_KEY: fields}
        detail = _("Some fields are missing or wrong.")
        return {"code": "invalid", "detail": detail, "fields": fields}
    codes = error.get_codes()
    code = codes if isinstance(codes, str) else error.default_code
    return {"code": code, "detail": str(error.detail)}


def body_for_status(status: int) -> dict[str, str]:
    known = status if status in BY_STATUS else 500 if status >= 500 else 400
    code, detail = BY_STATUS[known]
    return {"code": code, "detail": str(detail)}

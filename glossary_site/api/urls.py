"""The description of the API, for programs and for people, and the end of the road.

Include it after everything else under `/api/`: what nothing before it knows does not exist.
"""

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_replace
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from glossary_site.api.errors import body_for_status

# Swagger's page carries a small inline style; scripts stay under the site's policy.
docs = csp_replace({"style-src": [SELF, UNSAFE_INLINE]})(
    SpectacularSwaggerSplitView.as_view(url_name="api-schema", authentication_classes=[])
)


@csrf_exempt
@login_not_required
def unknown(request: HttpRequest) -> JsonResponse:
    return JsonResponse(body_for_status(404), status=404)


urlpatterns = [
    path("schema", SpectacularAPIView.as_view(authentication_classes=[]), name="api-schema"),
    path("docs", docs, name="api-docs"),
    re_path("", unknown),
]

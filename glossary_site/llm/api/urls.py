"""Addresses without a trailing slash; `ApiMiddleware` takes them with one as well."""

from django.urls import path

from glossary_site.llm.api.processes import (
    ProcessCancel,
    ProcessDetail,
    ProcessList,
    ProcessRetry,
)

PROCESS = "llm/processes/<uuid:process_id>"

urlpatterns = [
    path("llm/processes", ProcessList.as_view(), name="api-llm-processes"),
    path(PROCESS, ProcessDetail.as_view(), name="api-llm-process"),
    path(f"{PROCESS}/cancel", ProcessCancel.as_view(), name="api-llm-process-cancel"),
    path(f"{PROCESS}/retry", ProcessRetry.as_view(), name="api-llm-process-retry"),
]

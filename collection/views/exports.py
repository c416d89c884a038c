"""Statistics as a file: what the page shows, and all of its pages."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from collection.statistics.asking import BadFilter, Filter
from collection.statistics.counting import statistics
from collection.statistics.table import FORMATS, export
from projects.access import Action, project_for


@require_safe
def statistics_export(request: HttpRequest, project_id: int, format: str) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    if format not in FORMATS:
        raise Http404(_("There is no such format."))
    try:
        asked = Filter.from_query(request.GET)
    except BadFilter:
        # The page says what is wrong with it.
        page = reverse("statistics", args=[project.pk])
        return redirect(f"{page}?{request.GET.urlencode()}")
    text = "".join(export(statistics(project, asked), format))
    response = HttpResponse(text, content_type=f"{FORMATS[format][1]}; charset=utf-8")
    name = slugify(project.name, allow_unicode=True) or str(project.pk)
    header = content_disposition_header(True, f"{name}-statistics.{format}")
    response["Content-Disposition"] = header or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    return response

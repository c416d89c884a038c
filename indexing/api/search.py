"""Search: in one project, or in all that somebody may see."""

from collections.abc import Iterable

from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from glossary_site.api.views import ApiView
from indexing.api.serializers import SearchAnswerSerializer, SearchQuerySerializer
from indexing.choices import Freshness, Mode
from indexing.search.options import SearchOptions
from indexing.search.service import search
from projects.access import visible_projects
from projects.api.base import ProjectView

TAG = "search"
DESCRIPTION = (
    "Sections, the best first. Each says whether the document has changed since it was indexed "
    "(`isLatest`) and whether it is about to be indexed anew (`hasPendingUpdate`). A query without "
    "words gives no results and a notice, not an error. Once the project has a glossary, each "
    "result names the terms that stand in it (`terms`), and a query that is a term gets its "
    "definition (`entry`)."
)


def answer(request: Request, project_ids: Iterable[int]) -> Response:
    # Not ApiView.query(): some parameters come several times.
    wish = SearchQuerySerializer(data=request.query_params)
    wish.is_valid(raise_exception=True)
    options = wish.validated_data
    page = search(
        SearchOptions(
            query=options["q"],
            project_ids=tuple(project_ids),
            mode=Mode(options["mode"]),
            limit=options["limit"],
            offset=options["offset"],
            depths=tuple(dict.fromkeys(options.get("depth", ()))),
            include=tuple(options.get("path", ())),
            exclude=tuple(options.get("exclude_path", ())),
            freshness=Freshness(options["index_status"]),
            typing=options["typing"],
        )
    )
    return Response(SearchAnswerSerializer(page).data)


class Search(ApiView):
    @operation(
        "search",
        tag=TAG,
        summary="Search all your projects",
        description=DESCRIPTION,
        parameters=[SearchQuerySerializer],
        responses={200: SearchAnswerSerializer},
        errors=[400],
    )
    def get(self, request: Request) -> Response:
        return answer(request, visible_projects(self.actor).values_list("pk", flat=True))


class ProjectSearch(ProjectView):
    @operation(
        "search_project",
        tag=TAG,
        summary="Search the documents of a project",
        description=DESCRIPTION,
        parameters=[SearchQuerySerializer],
        responses={200: SearchAnswerSerializer},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return answer(request, [self.project().pk])

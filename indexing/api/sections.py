"""The outline of a document as it is indexed."""

from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from indexing.api.serializers import (
    SectionQuerySerializer,
    SectionSerializer,
    SectionTextSerializer,
)
from indexing.models import Section
from projects.api.documents import DocumentView

TAG = "search"


class SectionList(DocumentView):
    queryset = Section.objects.all()
    default_ordering = "order"
    orderings = {"order": "order"}

    @operation(
        "sections_list",
        tag=TAG,
        summary="The sections of a document, in its order",
        description=(
            "Of the text that is in the index: `file_hash` is the document’s own once it has been "
            "indexed. Empty before the first time."
        ),
        parameters=[SectionQuerySerializer],
        responses={200: SectionTextSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int, document_id: int) -> Response:
        document = self.document(self.documents().listed())
        sections = Section.objects.of_document(document).listed()
        if self.query(SectionQuerySerializer)["content"]:
            sections = Section.objects.of_document(document).defer("heading_words", "words")
            return self.page_of(sections, SectionTextSerializer)
        return self.page_of(sections, SectionSerializer)

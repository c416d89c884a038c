"""What every endpoint stands on."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.db.models.expressions import Expression
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import IsAuthenticated
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from glossary_site.api.authentication import SessionAuthentication
from glossary_site.api.negotiation import JsonAlways
from glossary_site.api.ordering import StableOrdering
from glossary_site.api.pagination import Pages
from glossary_site.api.parsers import JsonParser
from glossary_site.api.strictness import unknown_fields
from glossary_site.people.authentication import TokenAuthentication
from glossary_site.people.models import User

# What a key in the database can be; it would choke on more.
BIGGEST_ID = 2**63 - 1


class ApiView(GenericAPIView[Any]):
    authentication_classes = [TokenAuthentication, SessionAuthentication]
    permission_classes = [IsAuthenticated]
    content_negotiation_class = JsonAlways
    parser_classes = [JsonParser]
    renderer_classes = [JSONRenderer]
    pagination_class = Pages
    filter_backends = [DjangoFilterBackend, StableOrdering]
    orderings: Mapping[str, str | Expression] = {}
    default_ordering = ""
    # The schema describes an endpoint; OPTIONS need not do it a second time.
    http_method_names = ["get", "head", "post", "patch", "delete"]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if any(value > BIGGEST_ID for value in kwargs.values() if isinstance(value, int)):
            raise NotFound

    @property
    def actor(self) -> User:
        assert isinstance(self.request.user, User)  # IsAuthenticated let it in
        return self.request.user

    def body(self, serializer: type[BaseSerializer[Any]], **options: Any) -> dict[str, Any]:
        """What the request says, checked."""
        wish = serializer(data=self.request.data, **options)
        unknown = unknown_fields(wish, self.request.data)
        if not wish.is_valid() or unknown:
            raise ValidationError(unknown | dict(wish.errors))
        return dict(wish.validated_data)

    def query(self, serializer: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """What the query string says, checked."""
        wish = serializer(data=self.request.query_params.dict())
        wish.is_valid(raise_exception=True)
        return dict(wish.validated_data)

    def page_of(self, rows: QuerySet[Any], serializer: type[BaseSerializer[Any]]) -> Response:
        """One page of the rows, filtered and sorted as the query string asks."""
        page = self.paginate_queryset(self.filter_queryset(rows))
        return self.get_paginated_response(serializer(page, many=True).data)

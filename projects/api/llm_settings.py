"""Which language model a project asks, and whether it answers (owners)."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.status import HTTP_204_NO_CONTENT

from glossary_site.api.fields import Choice, Text
from glossary_site.api.schema import operation
from glossary_site.llm.choices import ProviderKind, Strategy
from glossary_site.llm.connection import Outcome, test_connection
from glossary_site.llm.forms import wish_of
from glossary_site.llm.models import Provider
from glossary_site.llm.models.provider import (
    MAX_CONCURRENCY,
    MAX_SECONDS,
    MAX_TOKENS,
    MODEL_LENGTH,
    PRICE,
    QUERY_LENGTH,
    URL_LENGTH,
)
from glossary_site.llm.providers import Origin, ProviderConfig, key_state, provider_for
from glossary_site.llm.services.providers import KEY_LENGTH, clear_provider, save_provider
from projects.access import Action
from projects.api.base import ProjectView
from projects.models import Project

TAG = "projects"


def tokens(**options: Any) -> serializers.IntegerField:
    return serializers.IntegerField(
        min_value=1, max_value=MAX_TOKENS, allow_null=True, required=False, **options
    )


def price(**options: Any) -> serializers.DecimalField:
    return serializers.DecimalField(
        min_value=0,
        allow_null=True,
        required=False,
        **PRICE,
        **options,
    )


class LlmWriteSerializer(serializers.Serializer[Provider]):
    """A provider as it should be. What is not sent gets its default; the key alone stays."""

    kind = Choice(choices=ProviderKind.choices)
    base_url = Text(
        max_length=URL_LENGTH,
        allow_blank=True,
        required=False,
        help_text="Another one than before forgets the stored key.",
    )
    query = Text(
        max_length=QUERY_LENGTH,
        allow_blank=True,
        required=False,
        help_text="Put behind every address, such as `api-version=…` for Azure.",
    )
    model = Text(max_length=MODEL_LENGTH, allow_blank=True, required=False)
    bulk_strategy = Choice(choices=Strategy.choices, required=False)
    concurrency = serializers.IntegerField(min_value=1, max_value=MAX_CONCURRENCY, required=False)
    request_timeout = serializers.IntegerField(
        min_value=1, max_value=MAX_SECONDS, required=False, help_text="Seconds for one answer."
    )
    input_price = price(help_text="Of a million tokens read.")
    output_price = price(help_text="Of a million tokens written.")
    context_tokens = tokens(help_text="How many the model reads at most.")
    output_tokens = tokens(help_text="How many it writes at most.")
    enabled = serializers.BooleanField(
        required=False, help_text="False: the site's provider answers meanwhile."
    )
    api_key = Text(
        max_length=KEY_LENGTH,
        allow_blank=True,
        required=False,
        write_only=True,
        help_text="Blank or absent keeps the stored one.",
    )
    clear_key = serializers.BooleanField(
        required=False, write_only=True, help_text="True forgets the stored key."
    )
    version = serializers.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        required=False,
        write_only=True,
        help_text="The version you have seen, 0 for none; refused when there is another by now.",
    )


class LlmOwnSerializer(serializers.ModelSerializer[Provider]):
    """The project's own provider, without its key."""

    key = serializers.SerializerMethodField(
        help_text="`none`, `stored`, or `unreadable` after the site's own key was changed."
    )

    class Meta:
        model = Provider
        fields = (
            "kind",
            "base_url",
            "query",
            "model",
            "bulk_strategy",
            "concurrency",
            "request_timeout",
            "input_price",
            "output_price",
            "context_tokens",
            "output_tokens",
            "enabled",
            "key",
            "version",
            "updated_at",
        )
        read_only_fields = fields

    def get_key(self, provider: Provider) -> str:
        return key_state(provider)


class LlmInForceSerializer(serializers.Serializer[ProviderConfig]):
    """The provider that answers now."""

    origin = serializers.ChoiceField(
        choices=[origin.value for origin in Origin],
        help_text="Who chose it: the project (`scope`), the site, its environment, or nobody.",
    )
    kind = serializers.ChoiceField(choices=ProviderKind.choices)
    model = serializers.CharField()
    bulk_strategy = serializers.ChoiceField(choices=Strategy.choices, source="strategy")


class LlmSettingsSerializer(serializers.Serializer[Any]):
    own = LlmOwnSerializer(allow_null=True, help_text="Null: the project has none of its own.")
    in_force = LlmInForceSerializer()


class LlmStepSerializer(serializers.Serializer[Any]):
    code = serializers.CharField(help_text="For programs: one word that never changes.")
    title = serializers.CharField()
    outcome = serializers.ChoiceField(choices=[outcome.value for outcome in Outcome])
    detail = serializers.CharField(help_text="For people: a sentence in their language.")


class LlmReportSerializer(serializers.Serializer[Any]):
    ok = serializers.BooleanField()
    steps = LlmStepSerializer(many=True, help_text="As far as it got; a failure is the last.")


def settings_of(project: Project) -> Response:
    own = Provider.objects.filter(scope=project.stream).first()
    found = {"own": own, "in_force": provider_for(project.stream)}
    return Response(LlmSettingsSerializer(found).data)


class LlmSettings(ProjectView):
    http_method_names = [*ProjectView.http_method_names, "put"]

    @operation(
        "llm_settings_get",
        tag=TAG,
        summary="Which language model a project asks (owners)",
        responses={200: LlmSettingsSerializer},
        errors=[403, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return settings_of(self.project(Action.MANAGE))

    @operation(
        "llm_settings_put",
        tag=TAG,
        summary="Give a project a provider of its own, or change it (owners)",
        request=LlmWriteSerializer,
        responses={200: LlmSettingsSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def put(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.MANAGE)
        values = self.body(LlmWriteSerializer)
        save_provider(
            scope=project.stream,
            wish=wish_of(values),
            actor=self.actor,
            key=values.get("api_key", ""),
            clear_key=values.get("clear_key", False),
            version=values.get("version"),
        )
        return settings_of(project)

    @operation(
        "llm_settings_delete",
        tag=TAG,
        summary="Go back to the site's provider; the project's key is forgotten (owners)",
        responses={204: None},
        errors=[403, 404],
    )
    def delete(self, request: Request, project_id: int) -> Response:
        clear_provider(scope=self.project(Action.MANAGE).stream, actor=self.actor)
        return Response(status=HTTP_204_NO_CONTENT)


class LlmTest(ProjectView):
    @operation(
        "llm_settings_test",
        tag=TAG,
        summary="Ask the provider in force for an answer, and say what is wrong (owners)",
        request=None,
        responses={200: LlmReportSerializer},
        errors=[403, 404],
    )
    def post(self, request: Request, project_id: int) -> Response:
        config = provider_for(self.project(Action.MANAGE).stream)
        return Response(LlmReportSerializer(test_connection(config)).data)

from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from glossary_site.llm.choices import ProviderKind, Strategy

URL_LENGTH = 500
QUERY_LENGTH = 300
MODEL_LENGTH = 200
MAX_CONCURRENCY = 128
# A model on one's own machine may think for long; an hour is a server that hangs.
MAX_SECONDS = 3600
MAX_TOKENS = 100_000_000
# Room for a price in any currency.
PRICE: dict[str, Any] = {"max_digits": 12, "decimal_places": 6}


class Provider(models.Model):
    """Who answers the requests of a scope: `site`, or one project such as `project:7`.

    What a scope means is for the apps above to know. The key is encrypted, and nothing but
    `providers.provider_for()` reads it.
    """

    scope = models.CharField(_("scope"), max_length=100, unique=True)
    kind = models.CharField(
        _("kind"), max_length=10, choices=ProviderKind, default=ProviderKind.BUILTIN
    )
    base_url = models.CharField(_("base URL"), max_length=URL_LENGTH, blank=True)
    # Put behind every address, for Azure: `api-version=…`.
    query = models.CharField(_("query"), max_length=QUERY_LENGTH, blank=True)
    model = models.CharField(_("model"), max_length=MODEL_LENGTH, blank=True)
    encrypted_key = models.TextField(_("encrypted key"), blank=True, editable=False)
    bulk_strategy = models.CharField(
        _("strategy"), max_length=10, choices=Strategy, default=Strategy.SYNC
    )
    concurrency = models.PositiveSmallIntegerField(
        _("requests at a time"),
        default=8,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_CONCURRENCY)],
    )
    request_timeout = models.PositiveSmallIntegerField(
        _("seconds for one answer"),
        default=120,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_SECONDS)],
    )
    # Of a million tokens, in whatever currency the site counts. Without them a cost is not known.
    input_price = models.DecimalField(
        _("input price"),
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        **PRICE,
    )
    output_price = models.DecimalField(
        _("output price"),
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        **PRICE,
    )
    context_tokens = models.PositiveIntegerField(
        _("context, in tokens"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_TOKENS)],
    )
    output_tokens = models.PositiveIntegerField(
        _("longest answer, in tokens"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_TOKENS)],
    )
    # A provider that is switched off is passed over, as if it were not there.
    enabled = models.BooleanField(_("enabled"), default=True)
    version = models.PositiveIntegerField(_("version"), default=1)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("provider")
        verbose_name_plural = _("providers")
        ordering = ("scope",)
        constraints = [
            models.CheckConstraint(condition=~Q(scope=""), name="provider_has_a_scope"),
            models.CheckConstraint(
                condition=Q(kind__in=ProviderKind.values), name="provider_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(bulk_strategy__in=Strategy.values), name="provider_strategy_known"
            ),
            # A server has an address and a model; the built-in engine has neither, and no key that
            # somebody could forget in it.
            models.CheckConstraint(
                condition=(Q(kind=ProviderKind.OPENAI) & ~Q(base_url="") & ~Q(model=""))
                | Q(kind=ProviderKind.BUILTIN, base_url="", query="", model="", encrypted_key=""),
                name="provider_complete",
            ),
            models.CheckConstraint(
                condition=Q(concurrency__range=(1, MAX_CONCURRENCY)),
                name="provider_concurrency_possible",
            ),
            models.CheckConstraint(
                condition=Q(request_timeout__range=(1, MAX_SECONDS)),
                name="provider_timeout_possible",
            ),
            models.CheckConstraint(
                condition=(Q(input_price=None) | Q(input_price__gte=0))
                & (Q(output_price=None) | Q(output_price__gte=0)),
                name="provider_prices_not_negative",
            ),
            models.CheckConstraint(
                condition=(Q(context_tokens=None) | Q(context_tokens__gte=1))
                & (Q(output_tokens=None) | Q(output_tokens__gte=1)),
                name="provider_limits_positive",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} · {self.get_kind_display()}"

from decimal import Decimal

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from glossary_site.llm.models.process import SCOPE_LENGTH
from glossary_site.llm.tokens import cost_of_nano


class Budget(models.Model):
    """What a scope may use in a month. `site` is everybody together."""

    scope = models.CharField(
        _("scope"),
        max_length=SCOPE_LENGTH,
        unique=True,
        help_text=_("“site” for everything together, or one project such as “project:7”."),
    )
    monthly_tokens = models.PositiveBigIntegerField(
        _("tokens a month"), null=True, blank=True, help_text=_("Empty: no limit.")
    )
    monthly_cost = models.DecimalField(
        _("cost a month"),
        max_digits=12,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text=_("In the currency of the prices. Empty: no limit."),
    )
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("budget")
        verbose_name_plural = _("budgets")
        ordering = ("scope",)
        constraints = [
            models.CheckConstraint(condition=~Q(scope=""), name="llm_budget_has_a_scope"),
            models.CheckConstraint(
                condition=Q(monthly_cost__isnull=True) | Q(monthly_cost__gte=0),
                name="llm_budget_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return self.scope


class Spending(models.Model):
    """What a scope has used in a month, and what is kept back for requests under way."""

    scope = models.CharField(_("scope"), max_length=SCOPE_LENGTH)
    # Its first day.
    month = models.DateField(_("month"))
    used_tokens = models.PositiveBigIntegerField(_("used tokens"), default=0)
    reserved_tokens = models.PositiveBigIntegerField(_("reserved tokens"), default=0)
    used_nano = models.PositiveBigIntegerField(_("cost (billionths)"), default=0)
    reserved_nano = models.PositiveBigIntegerField(_("reserved cost (billionths)"), default=0)

    class Meta:
        verbose_name = _("spending")
        verbose_name_plural = _("spending")
        ordering = ("-month", "scope")
        constraints = [
            # Also the index for "this month of this scope".
            models.UniqueConstraint(fields=["scope", "month"], name="llm_spending_once_a_month"),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.month:%Y-%m}"

    @property
    def used_cost(self) -> Decimal:
        return cost_of_nano(self.used_nano)

    @property
    def reserved_cost(self) -> Decimal:
        return cost_of_nano(self.reserved_nano)

"""Language models in numbers, read from their rows when `/metrics` is asked."""

from collections.abc import Iterator

from prometheus_client import Metric

from glossary_site.llm.models import LLMJob, Spending
from glossary_site.llm.services.budgets import this_month
from glossary_site.observe.metrics import gauge, register


@register
def collect() -> Iterator[Metric]:
    counts = LLMJob.objects.counts()
    yield gauge("glossary_llm_requests", "Requests in the queue, by status.", counts, "status")
    month = list(Spending.objects.filter(month=this_month()))
    yield gauge(
        "glossary_llm_tokens_this_month",
        "Tokens that a scope has used.",
        {spending.scope: spending.used_tokens for spending in month},
        "scope",
    )
    yield gauge(
        "glossary_llm_cost_this_month",
        "What they cost, in the currency of the prices.",
        {spending.scope: float(spending.used_cost) for spending in month},
        "scope",
    )

"""How much a request will be, before it is sent, and what tokens cost."""

from decimal import ROUND_CEILING, Decimal
from typing import Any

# In English and in Japanese: characters would be far off in one of them.
BYTES_PER_TOKEN = 4
# What a server puts around each message.
TOKENS_PER_MESSAGE = 4
# A cost is kept in billionths of the currency, as a whole number.
NANO = 1_000_000_000
# Prices are for a million tokens.
MILLION = 1_000_000
# More than this is no count, whatever a server says.
MOST_COUNTED = 1_000_000_000


def estimate_text(text: str) -> int:
    """A little more rather than a little less: it is what a budget keeps back."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


def counted(said: Any, estimate: int) -> int:
    """As a server counted, where that can be: an estimate is nearer to the truth than nothing, and
    than nonsense."""
    believed = isinstance(said, int | float) and 0 <= said <= MOST_COUNTED
    return int(said) if believed else estimate


def cost_nano(
    *,
    input_tokens: int,
    output_tokens: int,
    input_price: Decimal | None,
    output_price: Decimal | None,
) -> int:
    """Rounded up. What has no price costs nothing here; budgets of money ask for prices first."""
    cost = input_tokens * (input_price or Decimal(0)) + output_tokens * (output_price or Decimal(0))
    return int((cost * NANO / MILLION).to_integral_value(ROUND_CEILING))


def nano_of_cost(cost: Decimal) -> int:
    return int((cost * NANO).to_integral_value(ROUND_CEILING))


def cost_of_nano(nano: int) -> Decimal:
    return Decimal(nano) / NANO

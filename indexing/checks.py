from typing import Any

from django.core.checks import Error, register

from indexing.sections.limits import limits


@register()
def limits_fit_together(**kwargs: Any) -> list[Error]:
    """Each of them is checked where it is read; here, whether they go together."""
    try:
        limits()
    except ValueError as error:
        hint = "See GLOSSARY_SECTION_MAX_TOKENS and its neighbours in .env.example."
        return [Error(str(error), hint=hint, id="indexing.E001")]
    return []

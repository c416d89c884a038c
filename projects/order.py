"""Lists by name, in the order of the index above them."""

from typing import Any

from django.db.models import Case, F, Func, TextField, Value, When
from django.db.models.functions import Chr, Coalesce, Concat, NullIf, StrIndex, Substr

from projects.choices import Language
from projects.terms.readings import signs_in_order

# The place of what no letter of the index begins with: beyond all others.
_LAST = 1000


class _ByCodePoint(Func):
    """Compared sign by sign, whatever language the database is set up for."""

    template = "%(expressions)s"
    output_field = TextField()

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        return self.as_sql(compiler, connection, template='(%(expressions)s) COLLATE "C"')


def by_index(*, reading: str = "reading", project: str = "project") -> Func:
    """By the letter of the index, then by reading. What an index begins with is for the language of
    the project to say, and it may change: so this is computed and not stored."""
    begins = NullIf(Substr(reading, 1, 1), Value(""))
    signs = Case(
        When(
            **{f"{project}__language": Language.JAPANESE},
            then=Value(signs_in_order(Language.JAPANESE)),
        ),
        default=Value(signs_in_order(Language.ENGLISH)),
    )
    place = Coalesce(NullIf(StrIndex(signs, begins), 0), _LAST)
    return _ByCodePoint(Concat(Chr(place), F(reading)))

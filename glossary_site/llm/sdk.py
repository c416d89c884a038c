"""The `openai` package, loaded when something of it is first asked for: that takes most of a
second, and most commands ask no provider anything."""

from typing import TYPE_CHECKING

from glossary_site.lazily import Lazily

if TYPE_CHECKING:
    import openai as openai
else:
    openai = Lazily("openai")

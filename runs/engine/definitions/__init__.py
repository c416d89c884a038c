"""Contexts, definitions and relations of terms, without a model.

`ContextFinder` reads the documents and gives passages word for word; `define` makes an entry of
them; `relations` names neighbours; `locate` checks a quotation. Nothing here knows the database.
"""

from runs.engine.definitions.finder import ContextFinder
from runs.engine.definitions.locating import Located, locate
from runs.engine.definitions.relating import relations
from runs.engine.definitions.writing import define

__all__ = ["ContextFinder", "Located", "define", "locate", "relations"]

from glossary_site.llm.models.batch import ProviderBatch
from glossary_site.llm.models.budget import Budget, Spending
from glossary_site.llm.models.dialect import Dialect
from glossary_site.llm.models.embedding import EmbeddingCall
from glossary_site.llm.models.job import LLMJob
from glossary_site.llm.models.ledger import LedgerEntry
from glossary_site.llm.models.process import LLMProcess
from glossary_site.llm.models.provider import Provider

__all__ = [
    "Budget",
    "Dialect",
    "EmbeddingCall",
    "LLMJob",
    "LLMProcess",
    "LedgerEntry",
    "Provider",
    "ProviderBatch",
    "Spending",
]

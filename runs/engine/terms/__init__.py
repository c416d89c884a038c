"""Terms of documents without a model: morphology and statistics.

    analyses = {document.id: analyse(document.text) for document in documents}
    candidates = rank(analyses, lists=lists, limit=500)

`analyse` reads one document and can be kept; `rank` looks at all of them together and is quick.

    markup → english, japanese → analysis        one document
    gathering → scoring, categories → ranking    all documents
"""

from runs.engine.terms.analysis import ANALYSIS_VERSION, DocumentAnalysis, analyse
from runs.engine.terms.ranking import rank

__all__ = ["ANALYSIS_VERSION", "DocumentAnalysis", "analyse", "rank"]

from runs.models.analysis import DocumentTerms
from runs.models.log import RunLog
from runs.models.results import ProvisionalEntry, RefinedEntry, RunFailure, RunIssue, RunTerm
from runs.models.run import ERROR_LENGTH, Run, RunDocument, RunStep

__all__ = [
    "ERROR_LENGTH",
    "DocumentTerms",
    "ProvisionalEntry",
    "RefinedEntry",
    "Run",
    "RunDocument",
    "RunFailure",
    "RunIssue",
    "RunLog",
    "RunStep",
    "RunTerm",
]

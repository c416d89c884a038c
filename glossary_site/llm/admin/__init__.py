from glossary_site.llm.admin import budgets, ledger, processes, provider

__all__ = ["budgets", "ledger", "processes", "provider"]

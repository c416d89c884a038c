"""How Markdown says that its author calls something a term, without saying where it is explained:
`[pod](term:)` where a glossary has it, `[pod](term:new)` where it is introduced. A page shows the
words alone."""

TERM_LINK = "term:"
NEW_TERM_LINK = "term:new"

"""HTML, reStructuredText, Word and PDF to Markdown, in a process of its own.

Nothing in this package imports Django: the child starts fast and knows no setting, no database
and no secret. `worker` in the folder above is the other end of its pipe.
"""

"""From stored text to what a reader sees: safe HTML, a table of contents, and differences."""

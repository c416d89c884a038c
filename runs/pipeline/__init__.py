"""The steps from documents to a glossary, a file each: plain functions over plain data, with no
database, no queue and no network. `runs/services/` gives them rows and takes their results."""

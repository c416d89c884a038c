"""What a term is called: its key, its reading, its place in an index. No database."""

"""From the bytes a person hands in to clean Markdown text that is ready to store.

Plain functions: no models, no settings. `reader.read()` is the door; limits are passed in.
"""

"""Folders on the machine that projects follow.

| file | for |
|---|---|
| `opening.py` | the doors: which folder may be opened, and a way into it that no link bends |
| `patterns.py`, `tree.py` | what is in a folder, and what of it counts |
| `reading.py` | the bytes of a file that nobody is writing, and the texts in them |
| `known.py` | a file as it was when it was last read |
| `rounds.py`, `mounts.py` | a comparison of the folder with what is known of it |
| `taking.py`, `writing.py` | what follows from it, in batches, as long as the folder is ours |
| `watching.py` | the changes as they happen, or a look now and then |
| `follower.py` | one folder: compare, then go from change to change |
| `lease.py`, `overseer.py` | one follower a folder; all folders of a process |
| `telling.py` | what a person or the log gets to read |
| `services.py` | what people decide: this folder, these patterns, no more |
"""

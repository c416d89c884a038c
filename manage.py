#!/usr/bin/env python
import gc
import os
import sys
from io import TextIOWrapper

MINIMUM = (3, 11)
# What is loaded at the start stays. Looking through it for garbage after every seven hundred new
# objects, as Python would, takes a tenth of the time of a short command.
OBJECTS_BETWEEN_LOOKS = 50_000


def main() -> None:
    if sys.version_info < MINIMUM:
        sys.exit(f"Glossary Site needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    gc.set_threshold(OBJECTS_BETWEEN_LOOKS)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")
    # A terminal of another encoding shows an escape where it cannot show a character.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # Imported here, so that an old Python meets the sentence above and not a syntax error below.
    from django.core.management import execute_from_command_line
    from environs.exceptions import EnvError

    try:
        execute_from_command_line(sys.argv)
    except EnvError as error:
        sys.exit(f"Configuration: {error}")
    except KeyboardInterrupt:
        # Ctrl-C before the command had begun to work, or in one that has nothing to end well.
        sys.exit(130)


if __name__ == "__main__":
    main()

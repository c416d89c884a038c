#!/usr/bin/env python
import os
import sys

MINIMUM = (3, 11)


def main() -> None:
    if sys.version_info < MINIMUM:
        sys.exit(f"Glossary Site needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")
    # Imported here, so that an old Python meets the sentence above and not a syntax error below.
    from django.core.management import execute_from_command_line
    from environs.exceptions import EnvError

    try:
        execute_from_command_line(sys.argv)
    except EnvError as error:
        sys.exit(f"Configuration: {error}")


if __name__ == "__main__":
    main()

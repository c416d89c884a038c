"""The site's own settings, with the kinds of work that the chaos run gives it."""

from glossary_site.settings import *  # noqa: F403
from glossary_site.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.chaos_app"]

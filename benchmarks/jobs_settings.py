"""The site's own settings, with the kind of work that is measured."""

from glossary_site.settings import *  # noqa: F403
from glossary_site.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.jobs_app"]

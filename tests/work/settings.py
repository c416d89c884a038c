"""The site's own settings with the tests' kinds of work, for processes that tests start."""

from glossary_site.settings import *  # noqa: F403
from glossary_site.settings import INSTALLED_APPS as SITE_APPS

INSTALLED_APPS = [*SITE_APPS, "tests.work"]

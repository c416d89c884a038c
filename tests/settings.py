"""The site's own settings, with what makes tests fast and keeps them out of anybody's data."""

import atexit
import os
import shutil
import tempfile

directory = tempfile.mkdtemp(prefix="glossary-tests-")
atexit.register(shutil.rmtree, directory, ignore_errors=True)
os.environ["GLOSSARY_DATA_DIR"] = directory

from glossary_site.settings import *  # noqa: E402, F403
from glossary_site.settings import INSTALLED_APPS as SITE_APPS  # noqa: E402

INSTALLED_APPS = [*SITE_APPS, "tests.work"]

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

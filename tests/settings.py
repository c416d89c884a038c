"""The site's own settings, with what makes tests fast and alone on the machine."""

import os
import tempfile

os.environ.setdefault("GLOSSARY_DATA_DIR", tempfile.mkdtemp(prefix="glossary-tests-"))

from glossary_site.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

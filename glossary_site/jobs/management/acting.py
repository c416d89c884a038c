"""Whose rights over work a command has."""

from collections.abc import Callable

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from glossary_site.jobs.access import Person
from glossary_site.jobs.services.audit import Actor
from glossary_site.management.acting import user_named

# What the audit calls whoever runs a command on the machine: may do everything, and has no account.
OPERATOR = "operator"


def actor_named(username: str | None, *, may: Callable[[Person], bool]) -> Actor:
    if username is None:
        return OPERATOR
    user = user_named(username)
    if not may(user):
        raise PermissionDenied(_("“%(name)s” may not do this.") % {"name": username})
    return user

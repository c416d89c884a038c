"""For whom a command acts: the operator of the machine, or a person named with `--as`."""

from argparse import ArgumentParser
from collections.abc import Callable

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from glossary_site.jobs.access import Person
from glossary_site.jobs.services.audit import Actor
from glossary_site.people.models import User

# What the audit calls whoever runs a command on the machine: may do everything, and has no account.
OPERATOR = "operator"


def add_actor_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--as",
        dest="username",
        metavar="USERNAME",
        help="act as this user, with this user's rights; without it, as the operator",
    )


def actor_named(username: str | None, *, may: Callable[[Person], bool]) -> Actor:
    if username is None:
        return OPERATOR
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise CommandError(_("There is no active user “%(name)s”.") % {"name": username})
    if not may(user):
        raise CommandError(_("“%(name)s” may not do this.") % {"name": username})
    return user

"""For whom a command acts: the operator of the machine, or a person named with `--as`."""

from argparse import ArgumentParser

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from glossary_site.people.models import User
from projects.access import OPERATOR, Actor


def add_actor_argument(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--as",
        dest="username",
        metavar="USERNAME",
        help="act as this user, with this user's rights; without it, as the operator",
    )


def actor_named(username: str | None) -> Actor:
    if username is None:
        return OPERATOR
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise CommandError(_("There is no active user “%(name)s”.") % {"name": username})
    return user

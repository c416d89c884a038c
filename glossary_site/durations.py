"""Lengths of time in few words, for tables and sentences: 40 s, 4 min, 2 h 5 min, 3 d 4 h."""

from datetime import timedelta

from django.utils.translation import gettext as _

MINUTE, HOUR, DAY = 60, 3600, 86400


def in_words(length: timedelta) -> str:
    seconds = max(0, int(length.total_seconds()))
    if seconds < MINUTE:
        return _("%(n)d s") % {"n": seconds}
    if seconds < HOUR:
        return _("%(n)d min") % {"n": seconds // MINUTE}
    if seconds < DAY:
        return _("%(h)d h %(m)d min") % {"h": seconds // HOUR, "m": seconds % HOUR // MINUTE}
    return _("%(d)d d %(h)d h") % {"d": seconds // DAY, "h": seconds % DAY // HOUR}

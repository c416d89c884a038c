"""Look at the worker processes, take a node out of service or put it back: `manage.py workers`."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from rest_framework.utils.encoders import JSONEncoder

from glossary_site.durations import in_words
from glossary_site.errors import Refusal
from glossary_site.jobs.access import may_operate, may_watch
from glossary_site.jobs.api.serializers import LeaderSerializer, NodeLoadSerializer
from glossary_site.jobs.management.acting import actor_named
from glossary_site.jobs.management.tables import relative, table
from glossary_site.jobs.overview import Overview, WorkerLine, overview
from glossary_site.jobs.services.audit import Actor
from glossary_site.jobs.services.workers import drain_node
from glossary_site.management.acting import add_actor_argument
from glossary_site.management.base import SiteCommand


class Command(SiteCommand):
    help = (
        "Show the worker processes. `drain NODE` lets a node finish what it has in hand and take "
        "nothing new; `undrain NODE` puts it back to work."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="for programs")
        parser.add_argument("deed", nargs="?", choices=("drain", "undrain"))
        parser.add_argument("node", nargs="?", metavar="NODE")
        add_actor_argument(parser)

    def handle(
        self,
        *args: Any,
        deed: str | None,
        node: str | None,
        username: str | None,
        json: bool,
        **options: Any,
    ) -> None:
        actor = actor_named(username, may=may_operate if deed else may_watch)
        if deed and node is None:
            raise CommandError(_("Which node? “manage.py workers” lists them."))
        if deed and node:
            self.set_draining(node, actor=actor, draining=deed == "drain")
        elif json:
            self.stdout.write(as_json(overview()))
        else:
            self.stdout.write(as_text(overview()))

    def set_draining(self, node: str, *, actor: Actor, draining: bool) -> None:
        try:
            count = drain_node(node, actor=actor, draining=draining)
        except Refusal as refusal:
            raise CommandError(str(refusal)) from refusal
        if draining:
            sentence = ngettext(
                "%(node)s takes nothing new: %(count)d process.",
                "%(node)s takes nothing new: %(count)d processes.",
                count,
            )
        else:
            sentence = ngettext(
                "%(node)s is back at work: %(count)d process.",
                "%(node)s is back at work: %(count)d processes.",
                count,
            )
        self.stdout.write(sentence % {"node": node, "count": count})


def as_text(view: Overview) -> str:
    if not view.nodes:
        return _("No worker is running. “manage.py worker” starts one.")
    rows = [
        [
            node.name,
            line.worker.role,
            line.worker.pid,
            relative(line.worker.started_at, view.now),
            relative(line.worker.heartbeat_at, view.now),
            line.worker.jobs_done,
            ", ".join(str(load.run.pk) for load in line.load),
            condition(line),
        ]
        for node in view.nodes
        for line in node.workers
    ]
    headings = [
        _("Node"),
        _("Role"),
        _("Process"),
        _("Started"),
        _("Heard of"),
        _("Jobs done"),
        _("In hand"),
        _("Condition"),
    ]
    return f"{table(headings, rows)}\n\n{leader(view)}"


def condition(line: WorkerLine) -> str:
    if line.is_silent:
        return _("silent")
    return _("draining") if line.worker.draining else pgettext("worker", "present")


def leader(view: Overview) -> str:
    if not view.leader.leads:
        return _("Nobody leads: retries and lost deliveries wait until a keeper takes over.")
    return _("Leader: %(holder)s, epoch %(epoch)d, for %(time)s") % {
        "holder": view.leader.holder,
        "epoch": view.leader.epoch,
        "time": in_words(view.now - (view.leader.since or view.now)),
    }


def as_json(view: Overview) -> str:
    value = {
        "leader": LeaderSerializer(view.leader).data,
        "nodes": NodeLoadSerializer(view.nodes, many=True).data,
    }
    return json.dumps(value, cls=JSONEncoder, ensure_ascii=False, indent=2)

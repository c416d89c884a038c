"""The processes of the site: who starts whom, who watches whom, and how they end.

    serve ─┬─ web       daphne with the ASGI application
           └─ worker    the watchdog (`manage.py worker`)
                └─ cluster     django-q2's main process, which forks
                     └─ sentinel ── workers, pusher, monitor

A process that dies is started again by the one above it. When one above dies, the kernel kills
everything below it (`parent_death`), so a kill at any place leaves no orphan.
"""

"""What the workers of a test are given to do."""

import json
import time
from pathlib import Path

from django_q.conf import Conf

from glossary_site.processes import identity


def tell(path: str) -> None:
    """Write down who executes this, and when."""
    facts = {
        "node": identity.node(),
        "lane": identity.lane(),
        "cluster": Conf.CLUSTER_NAME,
        "timeout": Conf.TIMEOUT,
        "retry": Conf.RETRY,
        "time": time.time(),
    }
    # Whoever waits for the file shall find it complete.
    unfinished = Path(f"{path}.unfinished")
    unfinished.write_text(json.dumps(facts))
    unfinished.rename(path)


def until_stopping(path: str) -> None:
    """A long task that ends when its worker shall stop, and says so."""
    Path(path, "begun").touch()
    for _ in range(600):
        if identity.stopping():
            Path(path, "told").touch()
            return
        time.sleep(0.1)


def note_unless_stopping(path: str) -> None:
    if not identity.stopping():
        Path(path).touch()

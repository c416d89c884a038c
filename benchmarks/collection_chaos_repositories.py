"""Many small real repositories, made quickly, that can be broken and mended again."""

import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
BRANCHES = ("main", "release/1", "topic")
FIRST_COMMIT = 1_700_000_000
# Of a pack: what git looks at when it opens one, before it reads any object.
PACK_HEADER, PACK_TRAILER = 12, 20
GONE, BROKEN, NO_REPOSITORY = "gone", "broken", "no repository"
LASTING = (GONE, BROKEN, NO_REPOSITORY)
# It is broken, too, and mended once somebody has run into it.
PASSING = "passing"


@dataclass
class Made:
    """A repository, and what git itself says is in it."""

    path: str
    # Branch: every commit that can be reached from it.
    branches: dict[str, list[str]] = field(default_factory=dict)
    # How it is broken; empty: not at all.
    trouble: str = ""

    @property
    def fails(self) -> bool:
        return self.trouble in LASTING


def make_repositories(
    root: Path, *, targets: int, failing: int, passing: int, seed: int
) -> list[Made]:
    """So many branches in all, of which so many are chosen by chance to be broken. Every twentieth
    repository has three branches; those are left alone."""
    chance = random.Random(seed)
    made: list[Made] = []
    left = targets
    while left:
        names = BRANCHES if len(made) % 20 == 7 and left >= len(BRANCHES) else BRANCHES[:1]
        left -= len(names)
        repository = Made(str(root / f"{len(made):04}.git"))
        _make(Path(repository.path), names, chance)
        repository.branches = {name: _commits(repository.path, name) for name in names}
        made.append(repository)
    single = [repository for repository in made if len(repository.branches) == 1]
    for number, unlucky in enumerate(chance.sample(single, failing + passing)):
        unlucky.trouble = chance.choice(LASTING) if number < failing else PASSING
    return made


def write_plan(path: Path, made: list[Made]) -> None:
    path.write_text(json.dumps([asdict(each) for each in made]))


def read_plan(path: Path) -> list[Made]:
    return [Made(**each) for each in json.loads(path.read_text())]


def _make(path: Path, branches: tuple[str, ...], chance: random.Random) -> None:
    """As `git init --bare` does, without a process for it."""
    for folder in ("objects/info", "objects/pack", "refs/heads"):
        (path / folder).mkdir(parents=True)
    (path / "config").write_text(CONFIG)
    (path / "HEAD").write_text(f"ref: refs/heads/{BRANCHES[0]}\n")
    subprocess.run(
        # A pack, however few objects there are.
        ["git", "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--force"],
        cwd=path,
        input="".join(_history(branches, chance)).encode(),
        check=True,
    )


def _history(branches: tuple[str, ...], chance: random.Random) -> Iterator[str]:
    """Branches that leave the first one somewhere, and are merged into it now and then; one in
    fifty is long."""
    count = chance.randint(300, 500) if chance.random() < 0.02 else chance.randint(2, 30)
    tips: dict[str, int] = {}
    for number in range(1, count + len(branches)):
        name = branches[number - 1] if number <= len(branches) else chance.choice(branches)
        parent = tips.get(name) or tips.get(branches[0])
        # Clocks are wrong now and then.
        when = FIRST_COMMIT + number * 3600 - (86400 * 30 if chance.random() < 0.1 else 0)
        yield f"commit refs/heads/{name}\nmark :{number}\n"
        yield f"committer Person {chance.randint(1, 5)} <person@example.com> {when} +0000\n"
        yield _data(f"Change {number}")
        if parent:
            yield f"from :{parent}\n"
        other = chance.choice(branches)
        if parent and other != name and other in tips and chance.random() < 0.3:
            yield f"merge :{tips[other]}\n"
        lines = "".join(f"line {chance.random()}\n" for _ in range(chance.randint(1, 12)))
        yield f"M 100644 inline docs/{chance.randint(1, 4)}.md\n{_data(lines)}"
        tips[name] = number


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


def _commits(path: str, branch: str) -> list[str]:
    said = subprocess.run(
        ["git", "rev-list", f"refs/heads/{branch}"],
        cwd=path,
        check=True,
        capture_output=True,
        text=True,
    )
    return said.stdout.split()


def damage(made: Made) -> None:
    path = Path(made.path)
    if made.trouble == GONE:
        path.rename(_aside(path))
    elif made.trouble == NO_REPOSITORY:
        (path / "HEAD").rename(_aside(path / "HEAD"))
    elif made.trouble in (BROKEN, PASSING):
        (pack,) = (path / "objects/pack").glob("*.pack")
        shutil.copy(pack, _aside(pack))
        # It is listed what is in it, and none of it can be read.
        bytes_of_it = bytearray(pack.read_bytes())
        bytes_of_it[PACK_HEADER:-PACK_TRAILER] = bytes(
            len(bytes_of_it) - PACK_HEADER - PACK_TRAILER
        )
        pack.chmod(0o600)
        pack.write_bytes(bytes_of_it)


def mend(made: Made) -> None:
    """As it was before; nothing happens to what is whole."""
    path = Path(made.path)
    for broken in (path, path / "HEAD", *(path / "objects/pack").glob("*.pack")):
        if _aside(broken).exists():
            _aside(broken).replace(broken)


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.aside")

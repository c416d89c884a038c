"""Histories that nobody thought of, collected step by step over an API: whatever was merged late,
pushed by force or pushed while pages were read, what is stored is what git can reach."""

import random
from datetime import UTC, datetime, timedelta

import pytest

STEPS = 8
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


class World:
    """A repository with a branch `main`, and others that are merged into it sooner or later."""

    def __init__(self, repository, seed: int) -> None:
        self.repository = repository
        self.chance = random.Random(seed)
        self.number = 0
        self.sides: list[str] = []
        # More than a page.
        repository.many(120)

    def moment(self) -> datetime:
        """Clocks are wrong by years, in both directions."""
        return NOON + timedelta(hours=self.chance.randrange(-50_000, 50_000))

    def commit(self) -> None:
        self.number += 1
        files = {f"{self.chance.randrange(5)}.md": f"{self.number}\n"}
        self.repository.commit(files, f"Change {self.number}", when=self.moment())

    def happen(self) -> None:
        deed = self.chance.choice(
            [self.commit, self.commit, self.branch_off, self.merge, self.force]
        )
        deed()

    def branch_off(self) -> None:
        """From somewhere in the past, and not merged yet."""
        name = f"side-{len(self.sides)}"
        self.repository.switch(name, f"main~{self.chance.randrange(30)}")
        for _each in range(self.chance.randrange(1, 4)):
            self.commit()
        self.repository.switch("main")
        self.sides.append(name)

    def merge(self) -> None:
        if self.sides:
            # What the side has won: the same file may have changed on both.
            self.repository.run(
                *("merge", "-q", "--no-ff", "-X", "theirs", "-m", "Merge"),
                self.chance.choice(self.sides),
            )
        self.commit()

    def force(self) -> None:
        self.repository.run("reset", "-q", "--hard", f"main~{self.chance.randrange(1, 5)}")
        self.commit()


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_missed_and_nothing_comes_twice(origin, repository, seed):
    world = World(repository, seed)
    stored: set[str] = set()
    left: set[str] = set()
    known = ""
    for _step in range(STEPS):
        head = origin.heads().branches["main"]
        if known and not origin.contains(head, known):
            left |= set(origin.left_behind(head, known))
        for batch in origin.history(head, known=[known] if known else []):
            came = {commit.sha for commit in batch.commits}
            # Again only what was left behind, and is back.
            assert not came & (stored - left)
            stored |= came
            left -= came
            # Somebody pushes while the next page is on its way.
            world.happen()
        known = head
        assert stored - left == set(repository.reachable(head))
        for _deed in range(world.chance.randrange(4)):
            world.happen()

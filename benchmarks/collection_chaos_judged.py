"""What is judged of a collection without a database: totals, and the git processes it took."""

from collections import Counter

# What it takes to find out that nothing is new. Whatever else git is asked for would be a walk
# through a history, or the way to one.
ENOUGH = {"ls-remote", "version"}


def walks(commands: Counter[str]) -> list[str]:
    """Of the git processes of a collection that had nothing new."""
    found = []
    if walked := {name: count for name, count in commands.items() if name not in ENOUGH}:
        found.append(f"nothing was new, and yet histories were looked at: {walked}")
    if not commands["ls-remote"]:
        found.append(f"nobody was asked what is there: {dict(commands)}")
    return found


def differences(killed: dict[str, int], clean: dict[str, int]) -> list[str]:
    return [
        f"{name}: {killed.get(name)}, and without kills {clean.get(name)}"
        for name in dict.fromkeys([*killed, *clean])
        if killed.get(name) != clean.get(name)
    ]

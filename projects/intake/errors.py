"""One file refused, with a machine code and a sentence a person understands."""


class Refused(Exception):
    """A file that cannot go in. The other files of the same upload are not affected."""

    def __init__(self, code: str, message: object, /, **values: object) -> None:
        super().__init__(code)
        self.code = code
        self._sentence = message
        self._values = values

    @property
    def message(self) -> str:
        """The sentence in the language of whoever reads it: translated on access, not before."""
        sentence = str(self._sentence)
        return sentence % self._values if self._values else sentence

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


def readable_size(count: int) -> str:
    """A size as people write it: 10 MB, 1.5 MB, 512 kB, 20 bytes."""
    for unit, size in (("GB", 2**30), ("MB", 2**20), ("kB", 2**10)):
        if count >= size:
            return f"{round(count / size, 1):g} {unit}"
    return f"{count} bytes"

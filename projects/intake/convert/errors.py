"""Why a conversion did not work out. The parent turns the reason into a sentence."""


class Unconvertible(Exception):
    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

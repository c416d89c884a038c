"""How much one upload may ask of the site. The caller builds it from the settings."""

from dataclasses import dataclass

MIB = 2**20


@dataclass(frozen=True)
class Limits:
    max_file_bytes: int = 10 * MIB
    max_files: int = 1000
    # All members of one archive together, once expanded.
    max_archive_bytes: int = 200 * MIB
    max_archive_ratio: int = 100
    conversion_seconds: float = 30
    # All files of one upload together: a request must come to an end.
    conversion_total_seconds: float = 300
    conversion_memory_bytes: int = 1024 * MIB

from django.conf import settings

from projects.intake.limits import Limits


def limits() -> Limits:
    """What the settings allow one upload to ask of the site."""
    return Limits(
        max_file_bytes=settings.MAX_FILE_BYTES,
        max_files=settings.MAX_UPLOAD_FILES,
        max_archive_bytes=settings.MAX_ARCHIVE_BYTES,
        max_archive_ratio=settings.MAX_ARCHIVE_RATIO,
        conversion_seconds=settings.CONVERSION_SECONDS,
        conversion_total_seconds=settings.CONVERSION_TOTAL_SECONDS,
    )

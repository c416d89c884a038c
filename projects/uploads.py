"""From a multipart request, by a page or a program, to what the intake reads."""

from collections.abc import Sequence
from typing import BinaryIO, cast

from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from projects.intake.files import Incoming


def incoming_from_request(files: Sequence[UploadedFile], paths: Sequence[str]) -> list[Incoming]:
    """The files of a request with their paths in the project.

    Browsers and Django drop the folders from a file's name, so they come in a field of their own,
    in the order of the files. Without that field, or where it is empty, the name is the path.
    """
    if paths and len(paths) != len(files):
        raise Refusal(
            "paths_mismatch",
            _("%(files)d files came with %(paths)d paths. Send one path for each file, or none.")
            % {"files": len(files), "paths": len(paths)},
            status=400,
        )
    names = [file.name or "" for file in files]
    return [
        _incoming(path or name, file)
        for path, name, file in zip(paths or names, names, files, strict=True)
    ]


def _incoming(path: str, file: UploadedFile) -> Incoming:
    return Incoming(path=path, open=lambda: cast(BinaryIO, file.open()))

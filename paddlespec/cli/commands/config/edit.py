"""`config edit`: a configuration in an editor."""

from __future__ import annotations

import os

from paddlespec.cli.shared import config_file
from paddlespec.cli.shared.exits import Exit, Stop


def edit(*, project: config_file.InProject = False) -> int:
    """
    Edit a configuration in $VISUAL or $EDITOR.

    Writes the file only if the result is valid.

    \b
    paddlespec config edit
    paddlespec config edit --project
    """
    import shlex
    import subprocess
    import tempfile

    from paddlespec.diagnostic import InvalidSpec, has_errors
    from paddlespec.spec.edit import Source

    file = config_file.opened(project=project)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory() as folder:
        draft = os.path.join(folder, os.path.basename(file.path))
        with open(draft, "wb") as opened_draft:
            opened_draft.write(file.source.with_text(file.text))
        try:
            code = subprocess.call([*shlex.split(editor), draft])
        except OSError as error:
            hint = "set EDITOR to the command of an editor"
            raise Stop(Exit.refused, f"cannot run {editor}: {error.strerror}", hint) from None
        if code:
            raise Stop(Exit.refused, f"{editor} exited with {code}; nothing changed")
        with open(draft, "rb") as opened_draft:
            source = Source.of(opened_draft.read(), file.path)
    faults = config_file.faults(source.text, file.path, file.schema)
    if has_errors(faults):
        raise InvalidSpec(faults)
    file._replace(text=source.text).write_and_note()
    return Exit.done

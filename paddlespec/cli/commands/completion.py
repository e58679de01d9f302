"""`completion`: the script that completes commands in a shell."""

from __future__ import annotations

from typing import Annotated

import typer

from paddlespec.cli.shared import output as write
from paddlespec.cli.shared.exits import Exit
from paddlespec.cli.shared.values import one_of

_SHELLS = ("bash", "zsh", "fish")


def completion(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="Shell to complete in.")],
) -> int:
    """
    Print a script that completes commands, options and values.

    Contacts no cluster until names of jobs are completed, and then waits at most a second.

    \b
    source <(paddlespec completion bash)                                    # in ~/.bashrc
    source <(paddlespec completion zsh)                                     # in ~/.zshrc, after compinit
    paddlespec completion fish > ~/.config/fish/completions/paddlespec.fish
    """
    from paddlespec.bundled import text

    one_of("SHELL", shell, _SHELLS)
    write.data(text("templates", "completion", f"paddlespec.{shell}"))
    return Exit.done

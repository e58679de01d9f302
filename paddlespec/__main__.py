"""The `paddlespec` command."""

from __future__ import annotations

import sys


def main() -> None:
    """
    Run one command and exit with its code.

    What is asked most often needs no option parser, whose import costs more than the work:
    `--version`, and `validate` or `render` with nothing but paths.
    """
    arguments = sys.argv[1:]
    if arguments == ["--version"] and _told_version():
        return
    from paddlespec.cli.exits import run

    plain = len(arguments) > 1 and not any(each.startswith("-") for each in arguments[1:])
    if plain and arguments[0] in ("validate", "render"):
        from paddlespec.cli import spec

        if arguments[0] == "validate":
            sys.exit(run(lambda: spec.validate(arguments[1:])))
        sys.exit(run(lambda: spec.render(arguments[1:])))
    from paddlespec.cli.app import main as command_line

    sys.exit(run(command_line))


def _told_version() -> bool:
    """Say the version, unless stdout takes nothing: how that is told, all commands share."""
    from paddlespec import __version__

    try:
        sys.stdout.write(f"paddlespec {__version__}\n")
        sys.stdout.flush()
    except (OSError, AttributeError):
        return False
    return True


if __name__ == "__main__":
    main()

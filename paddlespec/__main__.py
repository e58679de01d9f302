"""The `paddlespec` command."""

from __future__ import annotations

import sys


def main() -> None:
    """
    Run one command and exit with its code.

    The most frequent calls need no option parser, whose import costs more than the work:
    `--version`, and `validate` or `render` with nothing but paths.
    """
    arguments = sys.argv[1:]
    if arguments == ["--version"] and _printed_version():
        return
    from paddlespec.cli.shared.exits import finish

    command, *paths = arguments or [""]
    if paths and not any(path.startswith("-") for path in paths):
        if command == "validate":
            from paddlespec.cli.shared.validate_specs import validate

            sys.exit(finish(lambda: validate(paths)))
        if command == "render":
            from paddlespec.cli.shared.render_specs import render

            sys.exit(finish(lambda: render(paths)))
    from paddlespec.cli.app import main as command_line

    sys.exit(finish(command_line))


def _printed_version() -> bool:
    """Print the version; whether stdout took it. Failures are reported as in every command."""
    from paddlespec import __version__

    try:
        sys.stdout.write(f"paddlespec {__version__}\n")
        sys.stdout.flush()
    except (OSError, AttributeError):
        return False
    return True


if __name__ == "__main__":
    main()

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
    if command == "__complete":
        from paddlespec.cli.completion.answer import answer

        sys.exit(finish(lambda: answer(paths)))
    if not any(path.startswith("-") for path in paths):
        if command == "validate":
            from paddlespec.cli.shared.session import required
            from paddlespec.cli.shared.validate_specs import validate

            sys.exit(finish(lambda: validate(required(paths))))
        if command == "render":
            from paddlespec.cli.shared.render_specs import render
            from paddlespec.cli.shared.session import required

            sys.exit(finish(lambda: render(required(paths))))
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

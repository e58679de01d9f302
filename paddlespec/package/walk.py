"""
Walk a package and decide for every entry whether it is included.

Links are followed only within the package, so a clone on another machine gives the same files.
Entries that cannot be included are reported, not skipped.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.boundary import is_inside
from paddlespec.package import PackageFault, ignore

if TYPE_CHECKING:
    from paddlespec.boundary import Boundary

MAX_FILES = 20_000
MAX_ENTRIES = 1_000_000
MAX_IGNORE_BYTES = 1_048_576
_MAX_LEFT = 1_000
_LINK_HINT = "replace the link with a copy of its target"
_NEVER_INCLUDED = (".gitignore", ".paddleignore", ".paddlespec.yaml")


class File(NamedTuple):
    """A file of the package: its path there, and the path of its content."""

    path: str
    source: str
    size: int
    executable: bool


class Left(NamedTuple):
    """An entry that a pattern excludes: its path in the package, where it is, and the pattern."""

    path: str
    source: str
    why: str


class _Folder(NamedTuple):
    """A folder of the package; its path ends in a slash, or is empty for the top."""

    path: str
    real: str
    parent: _Folder | None
    git: tuple[ignore.Rules, ...]
    own: tuple[ignore.Rules, ...]

    def is_below(self, real: str) -> bool:
        """Whether this folder or one of its parents is *real*."""
        folder: _Folder | None = self
        while folder and folder.real != real:
            folder = folder.parent
        return folder is not None


class Walk:
    """One walk through a package; `above` is its path in the repository."""

    def __init__(self, root: str, spec: str | None, limit: Boundary) -> None:
        self.root = root
        self.limit = limit
        self.spec = spec
        self.files: list[File] = []
        self.left: list[Left] = []
        self.faults: list[PackageFault] = []
        self.is_over = False
        self.above = ""
        self._budget = ignore.Budget()
        self._entries_left = MAX_ENTRIES
        self._excluded: tuple[ignore.Rules, ...] = ()

    def _exclude(self, patterns: list[str]) -> None:
        """Exclude files that match *patterns*, which override the ignore files."""
        rules, invalid = ignore.parse(patterns, 0, self._budget)
        for pattern in invalid:
            self._invalid(pattern, "in exclude")
        self._excluded = (rules,) if rules.patterns else ()

    def run(self, exclude: list[str]) -> None:
        """Collect the files, except those that match *exclude*, and the faults."""
        try:
            self._exclude(exclude)
            self._run()
        except ignore.TooManyPatterns:
            self.is_over = True
            hint = "remove patterns, or exclude whole folders in .paddleignore"
            self._fault("the ignore files have too many patterns for so many files", hint)

    def _run(self) -> None:
        folders = [self._top()]
        seen = 0
        while folders and not self.is_over:
            folder = folders.pop()
            seen += 1
            folders += self._enter(folder)
            # Links can turn a few folders into more than the walk could visit.
            is_too_much = len(self.files) > MAX_FILES or seen > MAX_FILES
            if is_too_much or self._entries_left < 0:
                self.is_over = True
                self._too_many()

    def _top(self) -> _Folder:
        top = _Folder("", self.root, None, (), ())
        folder, above = self.root, []
        while not os.path.lexists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                return top
            above.append(folder)
            folder = parent
        for name in map(os.path.basename, reversed(above)):
            names = {".gitignore", ".paddleignore"}
            top = self._with_rules(top._replace(real=folder), names, len(self.above))
            folder = os.path.join(folder, name)
            self.above += f"{_utf8(name) or name}/"
        return top._replace(real=self.root)

    def _enter(self, folder: _Folder) -> list[_Folder]:
        """Add the files of *folder* and return its folders."""
        try:
            with os.scandir(folder.real) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            self._fault(f"cannot read {shown(folder.path)}: {reason(error)}")
            return []
        self._entries_left -= len(entries)
        names = {sibling.name for sibling in entries}
        folder = self._with_rules(folder, names, len(self.above) + len(folder.path))
        folders = []
        for entry in entries:
            if entry.name != ".git":
                inner = self._take(folder, entry)
                if inner:
                    folders.append(inner)
                if len(self.files) > MAX_FILES:
                    break
        return folders

    def _take(self, folder: _Folder, entry: os.DirEntry[str]) -> _Folder | None:
        """Add *entry* if it is a file, or return it if it is a folder to enter."""
        name = _utf8(entry.name)
        path = folder.path + (entry.name if name is None else name)
        try:
            is_folder = entry.is_dir()
        except OSError:
            is_folder = False
        if self._is_ignored(folder, path, entry, is_folder=is_folder):
            return None
        if name is None:
            self._fault(f"the name of {shown(path)} is not UTF-8", "rename it, or ignore it")
            return None
        real = entry.path
        if entry.is_symlink():
            linked = self._follow(path, entry.path)
            if linked is None:
                return None
            real = linked
        if is_folder:
            if entry.is_symlink() and folder.is_below(real):
                self._fault(f"{shown(path)} is a link to its own parent folder", "ignore it")
                return None
            return _Folder(f"{path}/", real, folder, folder.git, folder.own)
        self._add(path, real)
        return None

    def _is_ignored(
        self, folder: _Folder, path: str, entry: os.DirEntry[str], *, is_folder: bool
    ) -> bool:
        whole = self.above + path
        for stack, seen in (self._excluded, path), (folder.own, whole), (folder.git, whole):
            match = ignore.decide(stack, seen, is_folder=is_folder, budget=self._budget)
            if match is not None:
                if match.pattern.ignores and len(self.left) < _MAX_LEFT and not _is_ours(entry):
                    whole = f"{path}/" if is_folder else path
                    self.left.append(Left(whole, entry.path, str(match)))
                return match.pattern.ignores
        if is_folder:
            return entry.name == "__pycache__"
        return _is_ours(entry) or entry.path == self.spec

    def _follow(self, path: str, link: str) -> str | None:
        """Return the target of a link, or None if it cannot be included."""
        try:
            target = os.path.realpath(link, strict=True)
        except OSError as error:
            broken = error.errno == errno.ENOENT
            problem = "is a broken link" if broken else f"cannot be followed: {reason(error)}"
            self._fault(f"{shown(path)} {problem}", "fix or ignore the link")
            return None
        if not is_inside(target, self.root):
            hint = "copy the target into the package, ignore the link, or mount the target"
            self._fault(f"{shown(path)} is a link to a target outside the package", hint)
            return None
        if ".git" in os.path.relpath(target, self.root).split(os.sep):
            message = f"{shown(path)} is a link into .git, which is never included"
            self._fault(message, "ignore the link")
            return None
        return target

    def _add(self, path: str, real: str) -> None:
        try:
            status = os.stat(real)
            if not stat.S_ISREG(status.st_mode):
                self._fault(f"{shown(path)} is {_kind(status.st_mode)}, not a file", "ignore it")
                return
            os.close(os.open(real, os.O_RDONLY))
        except OSError as error:
            self._fault(f"cannot read {shown(path)}: {reason(error)}")
            return
        executable = os.name != "nt" and bool(status.st_mode & stat.S_IXUSR)
        self.files.append(File(path, real, status.st_size, executable))

    def _with_rules(self, folder: _Folder, names: set[str], cut: int) -> _Folder:
        """Add the rules of the ignore files of *folder* that are in *names*."""
        if ".gitignore" in names:
            folder = folder._replace(git=folder.git + self._rules(folder, ".gitignore", cut))
        if ".paddleignore" in names:
            folder = folder._replace(own=folder.own + self._rules(folder, ".paddleignore", cut))
        return folder

    def _rules(self, folder: _Folder, name: str, cut: int) -> tuple[ignore.Rules, ...]:
        path = os.path.join(folder.real, name)
        label = shown(os.path.relpath(path, self.root).replace(os.sep, "/"))
        try:
            if not os.path.isfile(path):
                return ()
            if os.path.islink(path) and not self.limit.holds(path):
                self._fault(f"{label} is a link that leads out of {self.limit}", _LINK_HINT)
                return ()
            with open(path, "rb") as file:
                content = file.read(MAX_IGNORE_BYTES + 1)
        except OSError as error:
            self._fault(f"cannot read {label}: {reason(error)}")
            return ()
        if len(content) > MAX_IGNORE_BYTES:
            self._fault(f"{label} is larger than 1 MiB")
            return ()
        lines = content.decode("utf-8-sig", "surrogateescape").split("\n")
        rules, invalid = ignore.parse(lines, cut, self._budget, label)
        for pattern in invalid:
            self._invalid(pattern, f"at {label}:{pattern.line}")
        return (rules,) if rules.patterns else ()

    def _invalid(self, pattern: ignore.Invalid, where: str) -> None:
        if len(pattern.text) > ignore.MAX_PATTERN_LENGTH:
            limit = f"longer than {ignore.MAX_PATTERN_LENGTH:,} characters"
            self._fault(f"the pattern {where} is {limit}", "split it into several patterns")
            return
        hint = "use the syntax of .gitignore"
        self._fault(f'invalid pattern "{shown(pattern.text)}" {where}', hint)

    def _too_many(self) -> None:
        counts: dict[str, int] = {}
        for file in self.files:
            top = file.path.partition("/")[0] + "/" if "/" in file.path else "the folder itself"
            counts[top] = counts.get(top, 0) + 1
        most = max(counts, key=lambda top: counts[top], default="folders")
        hint = f"exclude files in .paddleignore; most of them are in {shown(most)}"
        if self._entries_left < 0:
            self._fault(f"more than {MAX_ENTRIES:,} files, most of which are ignored", hint)
            return
        self._fault(f"the package has more than {MAX_FILES:,} files or folders", hint)

    def _fault(self, message: str, hint: str | None = None) -> None:
        self.faults.append(PackageFault(message, hint))


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """Whether *entry* is compiled, or read by paddlespec and git alone."""
    name = entry.name
    if name in ("__pycache__", *_NEVER_INCLUDED) or name.endswith(".pyc"):
        return True
    return name.startswith("paddlejob") and name.endswith((".yaml", ".yml"))


def _utf8(name: str) -> str | None:
    """Decode *name* as UTF-8 in any locale; None if it is not valid."""
    try:
        return os.fsencode(name).decode("utf-8")
    except UnicodeError:
        return None


def shown(name: str) -> str:
    """Make *name* printable on one line."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in name)


def reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFSOCK: "a socket",
        stat.S_IFIFO: "a pipe",
        stat.S_IFBLK: "a device",
        stat.S_IFCHR: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "something else")

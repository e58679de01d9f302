"""
What jobs were before: as a git revision says, or as a folder of manifests does.

Neither asks a cluster. A revision is read with its own project files, overlays and code, by
today's templates and rules: what differs is what the change of the files does.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.backend import OperationFailed
from paddlespec.diagnostic import InvalidSpec, has_errors, in_order
from paddlespec.diff import Comparison, Row, diff
from paddlespec.files import STDIN, Files
from paddlespec.manifest import JOB_LABEL
from paddlespec.pipeline import build, load
from paddlespec.project import FILE_NAME
from paddlespec.repository import repository
from paddlespec.snapshot import Snapshot
from paddlespec.source import read
from paddlespec.template import TemplateFault, Templates

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paddlespec.diagnostic import Diagnostic
    from paddlespec.manifest import Manifest
    from paddlespec.pipeline import Built, Choices, Loaded
    from paddlespec.repository import Repository

REVISION = "git:"
Key = tuple[str, "str | None"]
"""The name and the namespace of a job: what tells jobs apart, wherever their specs are."""

_GOVERNING = frozenset((FILE_NAME, ".gitignore", ".paddleignore"))
_YAML = (".yaml", ".yml")


class Past(NamedTuple):
    """
    A job as it was.

    `remark` says what the comparison lacks. That one is not there now means something only where
    the paths of the command `covered` it.
    """

    manifests: list[Manifest]
    remark: str = ""
    covered: bool = True
    loaded: Loaded | None = None


class Before(NamedTuple):
    """Every job as it was; `unread` tells by file why there are none of it."""

    against: str
    jobs: dict[Key, Past]
    unread: dict[str, str]

    @property
    def loaded(self) -> list[Loaded]:
        """The jobs that were read, for what they know to be secret."""
        return [each.loaded for each in self.jobs.values() if each.loaded]


def before(
    paths: Sequence[str],
    choices: Choices,
    against: str,
    templates: str | None = None,
    built: Sequence[Built] = (),
) -> Before:
    """
    The jobs of *paths* as *against*, `git:REV` or a folder, has them.

    *built* are the jobs of today: one that the paths did not hold then is looked for elsewhere in
    the revision. Raises `OperationFailed`, or `InvalidSpec` for a folder that cannot be read.
    """
    if not against.startswith(REVISION):
        whole = any(os.path.isdir(each) for each in paths)
        return Before(against, _of_folder(against, covered=whole), {})
    revision = against.removeprefix(REVISION)
    clones: dict[Repository, list[str]] = {}
    for path in paths:
        clones.setdefault(repository("." if path == STDIN else path), []).append(path)
    found = Before(against, {}, {})
    with tempfile.TemporaryDirectory(prefix="paddlespec-") as folder:
        for index, (clone, own) in enumerate(clones.items()):
            commit = clone.commit(revision)
            found = found._replace(against=f"{against} ({commit[:7]})")
            place = os.path.join(os.path.realpath(folder), str(index))
            snapshot = Snapshot(clone, commit, place)
            _Reader(snapshot, choices, templates, found).read(own, built)
    return found


def compare(built: Sequence[Built], before: Before) -> list[Comparison]:
    """Every job of *built* with what it was, and then those that are gone."""
    found = []
    left = {key: each for key, each in before.jobs.items() if each.covered}
    for each in built:
        key = _key(each.loaded)
        left.pop(key, None)
        remark = before.unread.get(os.path.realpath(each.loaded.file), "")
        past = before.jobs.get(key) or Past([], remark)
        rows = [Row(change) for change in diff(past.manifests, each.manifests)]
        found.append(Comparison(*key, before.against + past.remark, rows))
    for key, past in sorted(left.items(), key=lambda each: (each[0][0], each[0][1] or "")):
        rows = [Row(change) for change in diff(past.manifests, [])]
        if rows:
            found.append(Comparison(*key, before.against + past.remark, rows))
    return found


class _Reader:
    """Reads the specs of one snapshot into *found*."""

    def __init__(
        self, snapshot: Snapshot, choices: Choices, templates: str | None, found: Before
    ) -> None:
        self._snapshot = snapshot
        self._found = found
        self._without: list[str] = []
        snapshot.add(["."], lambda name: name.rpartition("/")[2] in _GOVERNING)
        self._choices = choices._replace(
            overlays=tuple(filter(None, map(self._outer, choices.overlays))),
            updates=tuple(map(self._update, choices.updates)),
        )
        self._templates = Templates(self._outer(templates) if templates else None)

    def read(self, paths: Sequence[str], built: Sequence[Built]) -> None:
        """Find the jobs of *paths*; and of those of *built* that are missing, under other paths."""
        snapshot = self._snapshot
        places = [snapshot.repository.relative(each) for each in paths if each != STDIN]
        known = [each for each in places if each is not None and snapshot.has(each)]
        # A file is a spec whatever its name is; folders are walked for those that look like one.
        snapshot.add(known, lambda name: name in known or name.endswith(_YAML))
        present = [path for path in map(snapshot.path, known) if os.path.exists(path)]
        for key, past in self._jobs(Files().specs(present)[0]):
            self._found.jobs.setdefault(key, past)
        wanted = set()
        for each in built:
            name = snapshot.repository.relative(each.loaded.file)
            if name is not None and _key(each.loaded) not in self._found.jobs:
                wanted.add(_key(each.loaded))
                if lacks := snapshot.lacking(name):
                    file = os.path.realpath(each.loaded.file)
                    self._found.unread[file] = f", without {' and '.join(lacks)}"
        if wanted:
            for key, past in self._jobs(self._elsewhere({name for name, _ in wanted}, known)):
                if key in wanted and past.manifests:
                    self._found.jobs.setdefault(key, past)

    def _elsewhere(self, names: set[str], known: list[str]) -> list[str]:
        """Other files of the revision that look like specs of the jobs called *names*."""
        snapshot = self._snapshot
        files = snapshot.repository.mentioning(snapshot.commit, "paddlespec.io/")
        files = [each for each in files if each not in known]
        snapshot.add(files)
        found = []
        for path in map(snapshot.path, files):
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            if any(name in text for name in names):
                found.append(path)
        return Files().specs(found)[0]

    def _jobs(self, files: Sequence[str]) -> Iterator[tuple[Key, Past]]:
        """The jobs of *files*; their code is brought once it is known where it is."""
        packages = [each for file in files for each in self._packages(file)]
        self._snapshot.add(each for each in packages if not _leaves(each))
        for each in filter(_leaves, packages):
            self._snapshot.neighbour(each)
        shared = Files()
        for file in files:
            jobs, found = load(file, shared, self._choices)
            if has_errors(found):
                original = os.path.relpath(file, self._snapshot.top)
                original = os.path.join(self._snapshot.repository.top, original)
                self._found.unread[os.path.realpath(original)] = self._invalid(found)
            for loaded in jobs:
                if isinstance(getattr(loaded.job.metadata, "name", None), str):
                    yield _key(loaded), self._past(loaded)

    def _past(self, loaded: Loaded) -> Past:
        lacks = [*self._without]
        for each in self._packages_of(loaded):
            lacks += self._snapshot.lacking(each)
        remark = f", without {' and '.join(lacks)}" if lacks else ""
        try:
            return Past(build(loaded, self._templates).manifests, remark, loaded=loaded)
        except InvalidSpec as error:
            return Past([], self._invalid(error.diagnostics), loaded=loaded)
        except TemplateFault as error:
            return Past([], f", where a template was broken: {error}", loaded=loaded)

    def _packages(self, file: str) -> Iterator[str]:
        for loaded in load(file, Files(), self._choices)[0]:
            yield from self._packages_of(loaded)

    def _packages_of(self, loaded: Loaded) -> Iterator[str]:
        """The folder of the job's code, from the top of the repository."""
        package = loaded.job.spec.package
        path = getattr(package, "path", None)
        if isinstance(path, str) and "\0" not in path and not path.startswith("/"):
            folder = os.path.join(os.path.dirname(loaded.file), path)
            yield os.path.relpath(folder, self._snapshot.top).replace(os.sep, "/")

    def _outer(self, path: str) -> str | None:
        """A file or folder that an option names, as it was; nothing when it was not there."""
        name = self._snapshot.repository.relative(path)
        if path == STDIN or name is None:
            return path
        if not self._snapshot.has(name):
            self._without.append(f"{path}, which was not there")
            return None
        self._snapshot.add([name])
        return self._snapshot.path(name)

    def _update(self, text: str) -> str:
        """An override; of one that reads a file, the file as it was."""
        left, reads, name = text.partition("=@")
        inside = self._snapshot.repository.relative(name) if reads else None
        if inside is None:
            return text
        self._snapshot.add([inside])
        return f"{left}=@{self._snapshot.path(inside)}"

    def _invalid(self, found: Iterable[Diagnostic]) -> str:
        """The first fault, told of the file of the repository."""
        first = next(each for each in in_order(found) if each.is_error)
        told = f"{first.span}: {first.message}".replace(self._snapshot.top + os.sep, "")
        return f", where the spec was not valid: {told}"


def _of_folder(folder: str, *, covered: bool) -> dict[Key, Past]:
    """The jobs of the manifests below *folder*; objects without our label are not ours."""
    if not os.path.isdir(folder):
        hint = "`render PATH --out DIR` writes one; a revision is given as git:REV"
        raise OperationFailed(f"{folder} is not a folder of manifests", hint)
    found: dict[Key, Past] = {}
    faults: list[Diagnostic] = []
    for path in _yaml_files(folder):
        with open(path, "rb") as file:
            reading = read(file.read(), path, "manifest")
        faults += reading.diagnostics
        for document in reading.documents:
            for manifest in _objects(document.data):
                metadata = manifest["metadata"]
                key = metadata["labels"][JOB_LABEL], metadata.get("namespace")
                past = found.setdefault(key, Past([], covered=covered))
                past.manifests.append(manifest)
    if has_errors(faults):
        raise InvalidSpec(faults)
    return found


def _yaml_files(folder: str) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(where, name)
            if name.endswith((*_YAML, ".json")) and os.path.isfile(path):
                yield path


def _objects(data: object) -> Iterator[Manifest]:
    """The objects of ours in a document, which may be a list of them."""
    if not isinstance(data, dict):
        return
    items = data.get("items")
    if str(data.get("kind")).endswith("List") and isinstance(items, list):
        for each in items:
            yield from _objects(each)
        return
    metadata = data.get("metadata")
    if isinstance(metadata, dict) and isinstance(labels := metadata.get("labels"), dict):
        whole = {"apiVersion": data, "kind": data, "name": metadata, JOB_LABEL: labels}
        if all(isinstance(holder.get(key), str) for key, holder in whole.items()):
            yield data


def _key(loaded: Loaded) -> Key:
    metadata = loaded.job.metadata
    return metadata.name, metadata.namespace


def _leaves(path: str) -> bool:
    return path == ".." or path.startswith("../")

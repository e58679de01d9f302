"""
Load the previous version of jobs from a git revision or a folder of manifests.

Neither contacts a cluster. A revision is loaded with its own project files, overlays and code, but
with the templates and rules of this version, so differences come only from changed files.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from paddlespec.boundary import HINT as OUTSIDE_HINT
from paddlespec.boundary import boundary
from paddlespec.change.diff import Comparison, Row, diff, with_their_run
from paddlespec.diagnostic import Diagnostic, InvalidSpec, Span, dotted, has_errors, in_order
from paddlespec.git.repository import repository
from paddlespec.git.snapshot import Snapshot
from paddlespec.pipeline import build, load
from paddlespec.render import shape
from paddlespec.render.manifest import JOB_LABEL
from paddlespec.render.template import TemplateFault, Templates
from paddlespec.runs.failures import OperationFailed
from paddlespec.spec.files import STDIN
from paddlespec.spec.project import FILE_NAME
from paddlespec.spec.source import MAX_BYTES, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from paddlespec.diagnostic import Path
    from paddlespec.git.repository import Repository
    from paddlespec.pipeline import Built, Choices, Loaded
    from paddlespec.render.manifest import Manifest
    from paddlespec.spec.document import Document

REVISION = "git:"
Key = tuple[str, "str | None"]
"""The name and namespace of a job, which identify it in any file."""

_GOVERNING = frozenset((FILE_NAME, ".gitignore", ".paddleignore"))
_YAML = (".yaml", ".yml")


class Past(NamedTuple):
    """
    The previous version of a job.

    `remark` describes gaps in the comparison. A job counts as deleted only if the paths of the
    command `covered` it.
    """

    manifests: list[Manifest]
    remark: str = ""
    covered: bool = True
    loaded: Loaded | None = None


class Before(NamedTuple):
    """The previous version of all jobs; `unread` explains by file why a version is missing."""

    against: str
    jobs: dict[Key, Past]
    unread: dict[str, str]

    @property
    def loaded(self) -> list[Loaded]:
        """The loaded jobs, whose secrets must be masked."""
        return [job.loaded for job in self.jobs.values() if job.loaded]


def before(
    paths: Sequence[str],
    choices: Choices,
    against: str,
    templates: str | None = None,
    built: Sequence[Built] = (),
) -> Before:
    """
    Load the jobs of *paths* from *against*, which is `git:REV` or a folder.

    *built* are the current jobs: those that *paths* did not contain in the revision are searched in
    its other files. Raises `OperationFailed`, or `InvalidSpec` for invalid manifests in a folder.
    """
    if not against.startswith(REVISION):
        covered = any(os.path.isdir(path) for path in paths)
        return Before(against, _of_folder(against, choices.allowed, covered=covered), {})
    revision = against.removeprefix(REVISION)
    clones: dict[Repository, list[str]] = {}
    for path in paths:
        clones.setdefault(repository("." if path == STDIN else path), []).append(path)
    loaded = Before(against, {}, {})
    with tempfile.TemporaryDirectory(prefix="paddlespec-") as folder:
        for index, (clone, paths_in_clone) in enumerate(clones.items()):
            commit = clone.commit(revision)
            loaded = loaded._replace(against=f"{against} ({commit[:7]})")
            place = os.path.join(os.path.realpath(folder), str(index))
            snapshot = Snapshot(clone, commit, place)
            _Reader(snapshot, choices, templates, loaded).read(paths_in_clone, built)
    return loaded


def compare(built: Sequence[Built], before: Before) -> list[Comparison]:
    """Compare all jobs of *built* with their previous version, then list the deleted jobs."""
    comparisons = []
    deleted = {key: previous for key, previous in before.jobs.items() if previous.covered}
    for current in built:
        key = _key(current.loaded)
        deleted.pop(key, None)
        remark = before.unread.get(os.path.realpath(current.loaded.file), "")
        past = before.jobs.get(key) or Past([], remark)
        changes = with_their_run(diff(past.manifests, current.manifests))
        rows = [Row(change) for change in changes]
        comparisons.append(Comparison(*key, before.against + past.remark, rows))
    for key, past in sorted(deleted.items(), key=lambda item: (item[0][0], item[0][1] or "")):
        rows = [Row(change) for change in diff(past.manifests, [])]
        if rows:
            comparisons.append(Comparison(*key, before.against + past.remark, rows))
    return comparisons


class _Reader:
    """Loads the specs of one snapshot into *result*."""

    def __init__(
        self, snapshot: Snapshot, choices: Choices, templates: str | None, result: Before
    ) -> None:
        self._snapshot = snapshot
        self._result = result
        self._missing: list[str] = []
        snapshot.add(["."], lambda name: name.rpartition("/")[2] in _GOVERNING)
        self._choices = choices._replace(
            overlays=tuple(filter(None, map(self._outer, choices.overlays))),
            updates=tuple(map(self._update, choices.updates)),
        )
        self._templates = Templates(self._outer(templates) if templates else None, choices.allowed)

    def read(self, paths: Sequence[str], built: Sequence[Built]) -> None:
        """Load the jobs of *paths*, and the missing ones of *built* from other files."""
        snapshot = self._snapshot
        places = [snapshot.repository.relative(path) for path in paths if path != STDIN]
        known = [place for place in places if place is not None and snapshot.has(place)]
        # A file passed by name is always a spec; folders are searched for files like specs.
        snapshot.add(known, lambda name: name in known or name.endswith(_YAML))
        present = list(filter(os.path.exists, map(snapshot.path, known)))
        for key, past in self._jobs(self._choices.files().specs(present)[0]):
            self._result.jobs.setdefault(key, past)
        missing = set()
        for current in built:
            name = snapshot.repository.relative(current.loaded.file)
            if name is not None and _key(current.loaded) not in self._result.jobs:
                missing.add(_key(current.loaded))
                if lacks := snapshot.lacking(name):
                    file = os.path.realpath(current.loaded.file)
                    self._result.unread[file] = f", without {' and '.join(lacks)}"
        if missing:
            for key, past in self._jobs(self._elsewhere({name for name, _ in missing}, known)):
                if key in missing and past.manifests:
                    self._result.jobs.setdefault(key, past)

    def _elsewhere(self, names: set[str], known: list[str]) -> list[str]:
        """Return other files of the revision that may be specs of the jobs *names*."""
        snapshot = self._snapshot
        files = [name for name in snapshot.mentioning(b"paddlespec.io/") if name not in known]
        snapshot.add(files)
        candidates = []
        for path in map(snapshot.path, files):
            with open(path, "rb") as file:
                text = file.read(MAX_BYTES).decode("utf-8", "replace")
            if any(name in text for name in names):
                candidates.append(path)
        return self._choices.files().specs(candidates)[0]

    def _jobs(self, files: Sequence[str]) -> Iterator[tuple[Key, Past]]:
        """Load the jobs of *files*, after adding their code to the snapshot."""
        packages = [package for file in files for package in self._packages(file)]
        self._snapshot.add(package for package in packages if not _leaves(package))
        for package in filter(_leaves, packages):
            self._snapshot.neighbour(package)
        shared = self._choices.files()
        for file in files:
            jobs, diagnostics = load(file, shared, self._choices)
            if has_errors(diagnostics):
                original = os.path.relpath(file, self._snapshot.top)
                original = os.path.join(self._snapshot.repository.top, original)
                self._result.unread[os.path.realpath(original)] = self._invalid(diagnostics)
            for loaded in jobs:
                if isinstance(getattr(loaded.job.metadata, "name", None), str):
                    yield _key(loaded), self._past(loaded)

    def _past(self, loaded: Loaded) -> Past:
        lacks = [*self._missing]
        for package in self._packages_of(loaded):
            lacks += self._snapshot.lacking(package)
        remark = f", without {' and '.join(lacks)}" if lacks else ""
        try:
            return Past(build(loaded, self._templates).manifests, remark, loaded=loaded)
        except InvalidSpec as error:
            return Past([], self._invalid(error.diagnostics), loaded=loaded)
        except TemplateFault as error:
            return Past([], f", where a template is invalid: {error}", loaded=loaded)

    def _packages(self, file: str) -> Iterator[str]:
        for loaded in load(file, self._choices.files(), self._choices)[0]:
            yield from self._packages_of(loaded)

    def _packages_of(self, loaded: Loaded) -> Iterator[str]:
        """Yield the folder of the job's code, relative to the root of the repository."""
        package = loaded.job.spec.package
        path = getattr(package, "path", None)
        if isinstance(path, str) and "\0" not in path and not path.startswith("/"):
            folder = os.path.join(os.path.dirname(loaded.file), path)
            yield os.path.relpath(folder, self._snapshot.top).replace(os.sep, "/")

    def _outer(self, path: str) -> str | None:
        """Return the previous version of a file or folder of an option, or None if missing."""
        name = self._snapshot.repository.relative(path)
        if path == STDIN or name is None:
            return path
        if not self._snapshot.has(name):
            self._missing.append(f"{path}, which did not exist")
            return None
        self._snapshot.add([name])
        return self._snapshot.path(name)

    def _update(self, text: str) -> str:
        """Replace the file in an override with its previous version."""
        path, reads, file = text.partition("=@")
        name = self._snapshot.repository.relative(file) if reads else None
        if name is None:
            return text
        self._snapshot.add([name])
        return f"{path}=@{self._snapshot.path(name)}"

    def _invalid(self, diagnostics: Iterable[Diagnostic]) -> str:
        """Describe the first error, with the path of the file in the repository."""
        first = next(fault for fault in in_order(diagnostics) if fault.is_error)
        error = f"{first.span}: {first.message}".replace(self._snapshot.top + os.sep, "")
        return f", where the spec is invalid: {error}"


def _of_folder(folder: str, allowed: tuple[str, ...], *, covered: bool) -> dict[Key, Past]:
    """Return the jobs of the manifests below *folder*; objects without our label are ignored."""
    if not os.path.isdir(folder):
        hint = "write one with `render PATH --out DIR`, or name a revision as git:REV"
        raise OperationFailed(f"{folder} is not a folder of manifests", hint)
    jobs: dict[Key, Past] = {}
    faults: list[Diagnostic] = []
    limit = boundary(folder, allowed)
    for path in _yaml_files(folder):
        if not limit.holds(path):
            message = "is a link that leads out of the repository or folder"
            faults.append(Diagnostic("outside", message, Span(path), (), OUTSIDE_HINT))
            continue
        with open(path, "rb") as file:
            reading = read(file.read(MAX_BYTES + 1), path, "manifest")
        faults += reading.diagnostics
        for document in reading.documents:
            for place, manifest in _objects(document.data):
                wrong = shape.manifest(manifest["kind"]).wrong(manifest)
                if wrong is not None:
                    faults.append(_mistyped(document, (*place, *wrong)))
                    continue
                metadata = manifest["metadata"]
                key = metadata["labels"][JOB_LABEL], metadata.get("namespace")
                past = jobs.setdefault(key, Past([], covered=covered))
                past.manifests.append(manifest)
    if has_errors(faults):
        raise InvalidSpec(faults)
    return jobs


def _yaml_files(folder: str) -> Iterator[str]:
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(where, name)
            if name.endswith((*_YAML, ".json")) and os.path.isfile(path):
                yield path


def _mistyped(document: Document, path: Path) -> Diagnostic:
    message = f"{dotted(path)}: wrong type for a Kubernetes object"
    hint = "write the folder again with: paddlespec render PATH --out DIR"
    return Diagnostic("type", message, document.locate(path), path, hint=hint)


def _objects(data: object, place: Path = ()) -> Iterator[tuple[Path, Manifest]]:
    """Yield our objects in a document, which may be a List, with their paths."""
    if not isinstance(data, dict):
        return
    items = data.get("items")
    if str(data.get("kind")).endswith("List") and isinstance(items, list):
        for index, item in enumerate(items):
            yield from _objects(item, (*place, "items", index))
        return
    metadata = data.get("metadata")
    if isinstance(metadata, dict) and isinstance(labels := metadata.get("labels"), dict):
        required = {"apiVersion": data, "kind": data, "name": metadata, JOB_LABEL: labels}
        if all(isinstance(parent.get(key), str) for key, parent in required.items()):
            yield place, data


def _key(loaded: Loaded) -> Key:
    metadata = loaded.job.metadata
    return metadata.name, metadata.namespace


def _leaves(path: str) -> bool:
    return path == ".." or path.startswith("../")

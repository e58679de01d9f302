"""An edit has the effect of `--update` and keeps everything else."""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddlespec.diagnostic import InvalidSpec, Path
from paddlespec.spec.edit import edited
from paddlespec.spec.edit.writer import Style, flow
from paddlespec.spec.emit import dump
from paddlespec.spec.source import read
from paddlespec.spec.update import Update, apply, parse

HEAD = "apiVersion: paddlespec.io/v1\nkind: PaddleJob\n"


class Line(NamedTuple):
    """One line of a file and the path of its value; a comment belongs to its collection."""

    path: Path
    text: str


class Hand:
    """A writer of YAML with a random style."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.step = draw(st.sampled_from([2, 4]))
        self.offset = draw(st.sampled_from([0, 2, 4]))
        self.comments = 0
        self.lines: list[Line] = []

    def comment(self) -> str:
        self.comments += 1
        return f"# note {self.comments}."

    def tail(self) -> str:
        return f"  {self.comment()}" if self.draw(st.booleans()) else ""

    def between(self, path: Path, indent: int) -> None:
        """Add blank lines and comments before an entry."""
        choice = self.draw(st.integers(0, 5))
        if choice == 0:
            self.lines.append(Line(path, ""))
        if choice == 1:
            self.lines.append(Line(path, " " * indent + self.comment()))

    def scalar(self, value: Any) -> str:
        if isinstance(value, str):
            quote = self.draw(st.sampled_from(["", "'", '"']))
            return f"{quote}{value}{quote}"
        return json.dumps(value)

    def mapping(self, value: dict[str, Any], path: Path, indent: int, first: str = "") -> None:
        for key, member in value.items():
            if not first:
                self.between(path, indent)
            self.entry(f"{first or ' ' * indent}{key}:", member, (*path, key), indent)
            first = ""

    def entry(self, start: str, value: Any, path: Path, indent: int) -> None:
        if isinstance(value, (dict, list)) and (not value or self.draw(st.integers(0, 2)) == 0):
            self.lines.append(Line(path, f"{start} {flow(value, Style())}{self.tail()}"))
        elif isinstance(value, dict):
            self.lines.append(Line(path, start + self.tail()))
            self.mapping(value, path, indent + self.step)
        elif isinstance(value, list):
            self.lines.append(Line(path, start + self.tail()))
            self.sequence(value, path, indent + self.offset)
        else:
            self.lines.append(Line(path, f"{start} {self.scalar(value)}{self.tail()}"))

    def sequence(self, value: list[Any], path: Path, indent: int) -> None:
        for index, item in enumerate(value):
            self.between(path, indent)
            start = f"{' ' * indent}- "
            here = (*path, index)
            if isinstance(item, dict) and self.draw(st.booleans()):
                self.mapping(item, here, indent + 2, start)
            else:
                written = flow(item, Style()) if isinstance(item, dict) else self.scalar(item)
                self.lines.append(Line(here, start + written + self.tail()))


WORDS = st.sampled_from(["a", "b c", "x:1", "/data", "python t.py", "it s", "repo/img"])
ENV = st.dictionaries(st.sampled_from("ABC"), WORDS, max_size=3)
VOLUME = st.fixed_dictionaries({"mountPath": st.just("/m")}, optional={"claim": st.just("c")})
SPEC = st.fixed_dictionaries(
    {},
    optional={
        "image": WORDS,
        "setup": st.lists(WORDS, max_size=3),
        "env": ENV,
        "trainers": st.fixed_dictionaries(
            {},
            optional={
                "replicas": st.integers(1, 9),
                "resources": st.fixed_dictionaries(
                    {}, optional={"cpu": st.integers(1, 9), "memory": st.just("4Gi")}
                ),
                "env": ENV,
            },
        ),
        "volumes": st.lists(VOLUME, max_size=3).map(
            lambda found: [{"name": f"v{index}", **volume} for index, volume in enumerate(found)]
        ),
        "policy": st.just({"timeout": "12h"}),
    },
)
JOB = st.fixed_dictionaries(
    {"apiVersion": st.just("paddlespec.io/v1"), "kind": st.just("PaddleJob")},
    optional={
        "metadata": st.fixed_dictionaries(
            {"name": st.just("fit")},
            optional={"labels": st.just({"team": "ads"})},
        ),
        "spec": SPEC,
        "profiles": st.just({"smoke": {"trainers": {"replicas": 1}}}),
    },
)
CHANGES = [
    "metadata.name=other",
    "metadata.labels.team=x",
    'metadata.labels."a.b/c"=x',
    "metadata.labels.team-",
    "metadata.labels-",
    "metadata-",
    "image=new",
    "image=${{ parameters.i }}",
    "image=yes",
    "image-",
    "command=cd x\npython t.py\n",
    "command=[a, 'b, c']",
    "setup+=echo 1",
    "setup[0]=other",
    "setup[0]-",
    "setup[1]-",
    "setup=[]",
    "setup=[x, y]",
    "setup-",
    "env.A=1",
    "env.D={secret: s, key: k}",
    "env.B-",
    "env={Z: z}",
    "trainers.replicas=7",
    "trainers.replicas-",
    "trainers.resources.memory=8Gi",
    "trainers.resources.gpu=1",
    "trainers.resources.cpu-",
    "trainers.resources-",
    "trainers.env.A=x y",
    "trainers.env.A-",
    "trainers={replicas: 3, resources: {cpu: 1}}",
    "trainers-",
    "volumes+={name: new, mountPath: /n}",
    "volumes[0].readOnly=true",
    "volumes[1].mountPath=/other",
    "volumes[0].mountPath-",
    "volumes[0].name-",
    "volumes[0]-",
    "volumes[2]-",
    "policy.timeout=1h",
    "policy.retries=2",
    "profiles.smoke.trainers.replicas=2",
    "profiles.smoke.image=x",
    "profiles.big.trainers.replicas=2",
    "profiles-",
]


@st.composite
def files(draw: Any) -> tuple[list[Line], str, bool]:
    """Return the lines of a random spec, its line break, and whether the last line has one."""
    hand = Hand(draw)
    hand.mapping(draw(JOB), (), 0)
    hand.between((), 0)
    ends = draw(st.booleans()) or not hand.lines[-1].text
    return hand.lines, draw(st.sampled_from(["\n", "\r\n"])), ends


def expected(text: str, change: Update) -> Any:
    """Apply the change as `--update` does, with removed keys deleted."""
    data = json.loads(json.dumps(apply(read(text, "x").documents[0], change).data))
    if change.action == "remove":
        holder = data
        for part in change.path[:-1]:
            holder = holder[part]
        if isinstance(holder, dict):
            del holder[change.path[-1]]
    return data


def is_below(path: Path, other: Path) -> bool:
    return path[: len(other)] == other


def untouched(lines: list[Line], change: Update) -> list[Line]:
    """Return the lines unrelated to the path of *change*, its parents and its content."""
    path = change.path
    return [
        line
        for line in lines
        if not (is_below(line.path, path) and (change.action != "append" or line.path == path))
        and not (is_below(path, line.path) and not line.text.lstrip().startswith("#") and line.text)
    ]


@given(files(), st.sampled_from(CHANGES))
def test_an_edit_equals_the_update_and_keeps_other_lines(
    file: tuple[list[Line], str, bool], argument: str
) -> None:
    lines, newline, ends = file
    text = newline.join(line.text for line in lines) + (newline if ends else "")
    change = parse(argument, option="")
    try:
        data = expected(text, change)
    except InvalidSpec:
        with pytest.raises(InvalidSpec):
            edited(text, "x", [change])
        return
    if any(isinstance(data.get("spec", {}).get(field, []), dict) for field in ("setup", "volumes")):
        # The list has no such item.
        with pytest.raises(InvalidSpec):
            edited(text, "x", [change])
        return
    result = edited(text, "x", [change])
    reading = read(result, "x")
    assert not reading.diagnostics
    assert reading.documents[0].data == data
    # If the first entry of an item is removed, the second one moves to the line of the dash.
    blanks = " -" if change.path[1:2] == ("volumes",) and change.action == "remove" else ""
    after = (line.lstrip(blanks) if blanks else line for line in result.split(newline))
    for line in untouched(lines, change):
        assert line.text.lstrip(blanks or "\0") in after, f"{line.text!r} is gone or moved"
    assert result.count("\n") == result.count(newline)
    # A literal that ends in a line break requires one at the end of the file.
    assert (
        result.endswith("\n") == ends
        or str(change.value).endswith("\n")
        or not untouched(lines, change)[-1].text
    )
    if change.action == "set":
        assert edited(result, "x", [change]) == result


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
LINES = st.lists(st.sampled_from(["", "a", " b", "c ", "# d", "- e", "f: g", "'", "{"])).map(
    "\n".join
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | TEXT | LINES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXT | st.just("a"), inner, max_size=3)
    ),
    max_leaves=8,
)


def places(value: Any, path: Path = ()) -> list[Path]:
    """Return the paths of all values in *value*."""
    paths = [path] if path else []
    if isinstance(value, dict):
        paths += [inner for key in value for inner in places(value[key], (*path, key))]
    if isinstance(value, list):
        paths += [
            inner for index in range(len(value)) for inner in places(value[index], (*path, index))
        ]
    return paths


@given(st.data(), st.dictionaries(TEXT, VALUES, min_size=1, max_size=3), VALUES, st.booleans())
def test_any_value_can_be_set_anywhere(
    data: st.DataObject, content: dict[str, Any], value: Any, brackets: bool
) -> None:
    whole = {"spec": {"trainers": {"affinity": content}}}
    if brackets:
        text = f"{HEAD}spec:\n  trainers:\n    affinity: {flow(content, Style())} # end\n"
    else:
        text = HEAD + dump(whole)
    at: Path = ("spec", "trainers", "affinity")
    path = data.draw(st.sampled_from([*places(content), ("new",), ("new", "below")]))
    action: Literal["set", "append", "remove"]
    action = data.draw(st.sampled_from(["set", "append", "remove"]))
    change = Update("x", (*at, *path), action, value, "")
    try:
        data = expected(text, change)
    except InvalidSpec:
        return
    assert read(edited(text, "x", [change]), "x").documents[0].data == data

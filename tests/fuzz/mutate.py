"""Change valid JSON data into data that is almost valid."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 1.5, 2**31, 2**63, -(2**70), 1e308, "", "x", "1", "-", "abc"),
    *("a\n::error::x", "\x1b[31m", "1Gi", "1e9", "../..", "2026-13-45T99:99:99Z"),
    *("9" * 400, "[" * 100_000),
    *([], {}, [None], [1], ["x"], [{}], [[]], {"x": None}, {"": 1}, {"x": {"y": [1]}}),
]


def mutated(data: Any, random: Random) -> Any:
    """Return *data* with one to three values replaced, removed, added or swapped."""
    data = copy.deepcopy(data)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        places = list(_places(data))
        if not places:
            return random.choice(VALUES)
        parent, key = random.choice(places)
        match random.randrange(6):
            case 0 if isinstance(parent, dict):
                del parent[key]
            case 1:
                other_parent, other_key = random.choice(places)
                parent[key] = copy.deepcopy(other_parent[other_key])
            case 2 if isinstance(parent, list):
                parent.append(copy.deepcopy(random.choice(VALUES)))
            case 3 if isinstance(parent, dict):
                parent[random.choice(places)[1] if random.random() < 0.5 else "x"] = random.choice(
                    VALUES
                )
            case _:
                parent[key] = copy.deepcopy(random.choice(VALUES))
        if isinstance(parent, dict) and any(not isinstance(key, str) for key in parent):
            for key in [key for key in parent if not isinstance(key, str)]:
                parent[str(key)] = parent.pop(key)
    return data


def text(data: Any, random: Random) -> str:
    """Return mutated *data* as JSON; one in twenty texts is damaged itself."""
    whole = json.dumps(mutated(data, random))
    if random.random() > 0.05:
        return whole
    start = random.randrange(len(whole) + 1)
    filling = random.choice(("", "\0", "[" * 5000, '"', "\\ud800", "NaN", "é"))
    return whole[:start] + filling + whole[start + random.randrange(5) :]


def _places(data: Any) -> Any:
    stack = [data]
    while stack:
        node = stack.pop()
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, member in list(items):
            yield node, key
            if isinstance(member, (dict, list)):
                stack.append(member)

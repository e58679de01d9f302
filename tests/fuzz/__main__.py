"""Fuzz every target, or the one that is named: `python tests/fuzz [TARGET] [INPUTS] [SEED]`."""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from readers import TARGETS, prepare

LONG = 100_000
_REPORTED = 10_000


def main() -> int:
    """Print figures of each target; return 1 if a command failed internally."""
    words = sys.argv[1:]
    chosen = words[:1] if words else [*TARGETS]
    inputs = int(words[1]) if len(words) > 1 else LONG
    seed = int(words[2]) if len(words) > 2 else time.time_ns()
    faults = 0
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            prepare(Path(folder))
            target = TARGETS[name](Path(folder))
            codes: Counter[int] = Counter()
            places: set[str] = set()
            begun = time.monotonic()
            for number in range(inputs):
                ended = target(Random(f"{seed}/{number}"))
                codes[int(ended.code)] += 1
                if (
                    ended.code == 70
                    and (place := ended.said[-300:].split(" (version")[0]) not in places
                ):
                    places.add(place)
                    print(f"{name}, seed {seed}, input {number}: {ended.said}\n{ended.why[:3000]}")
                if (ran := number + 1) % _REPORTED == 0 or ran == inputs:
                    seconds = time.monotonic() - begun
                    print(
                        f"{name}: {ran} inputs, {seconds:.0f} s, exit codes {dict(codes)}",
                        flush=True,
                    )
            faults += codes[70]
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

"""Split text files into shards, one per replica.

Replica i of n keeps the lines whose number is i modulo n. All replicas read all of the input and
need to know nothing of each other. A line is a line: a CSV field with a line break in it would be
torn apart.
"""

import argparse
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path


def select(lines: Iterable[bytes], header_lines: int, index: int, count: int) -> Iterator[bytes]:
    """Yield the header, which every shard repeats, then this replica's lines."""
    lines = iter(lines)
    yield from islice(lines, header_lines)
    yield from islice(lines, index, None, count)


def write_shard(source: Path, folder: Path, header_lines: int, index: int, count: int) -> Path:
    """Write this replica's shard of one file, under its final name only when it is complete.

    Bytes, not text: the encoding of the data is none of our business.
    """
    shard = folder / f"{source.stem}-{index:05d}-of-{count:05d}{source.suffix}"
    partial = shard.with_name(f".{shard.name}.partial")
    with source.open("rb") as lines, partial.open("wb") as file:
        file.writelines(select(lines, header_lines, index, count))
    return partial.replace(shard)


def main() -> None:
    """Shard every matching file of the input folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pattern", default="*", help="which files of the input folder")
    parser.add_argument("--header-lines", type=int, default=0)
    args = parser.parse_args()
    source, output = Path(os.environ["PADDLESPEC_INPUT"]), Path(os.environ["PADDLESPEC_OUTPUT"])
    index, count = int(os.environ["PADDLESPEC_INDEX"]), int(os.environ["PADDLESPEC_COUNT"])

    files = sorted(path for path in source.glob(args.pattern) if path.is_file())
    if not files:
        raise SystemExit(f"no file in {source} matches {args.pattern}")
    output.mkdir(parents=True, exist_ok=True)
    for file in files:
        print(write_shard(file, output, args.header_lines, index, count), flush=True)


if __name__ == "__main__":
    main()

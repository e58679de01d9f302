"""Do this replica's share of the work, or all of it: python train.py."""

import argparse
import os


def main() -> None:
    """Process every COUNT-th item, starting with number INDEX."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100)
    args = parser.parse_args()
    index = int(os.environ.get("PADDLESPEC_INDEX", "0"))
    count = int(os.environ.get("PADDLESPEC_COUNT", "1"))
    mine = range(index, args.items, count)
    print(f"replica {index} of {count}: {len(mine)} of {args.items} items", flush=True)
    for item in mine:
        print(f"item {item}", flush=True)  # do your work here


if __name__ == "__main__":
    main()

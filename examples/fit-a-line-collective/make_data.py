"""Write housing.csv: synthetic houses whose price is nearly a linear function of four features.

The file is committed so that the job needs no download. This script is here to say where it came
from: the seed is fixed, so it always writes the same bytes.
"""

import csv
import random
from pathlib import Path

SEED = 20240611
# Divisible by 2, 3, 4, 5 and 6, so that every trainer gets as many rows as the next.
HOUSES = 480
COLUMNS = ["rooms", "area_m2", "age_years", "km_to_centre", "price_k"]


def house(rng: random.Random) -> list[float]:
    """Draw one house: its features, then its price in thousands, with some noise."""
    rooms = rng.randint(1, 7)
    area = round(18 * rooms + rng.gauss(12, 9), 1)
    age = rng.randint(0, 90)
    distance = round(rng.expovariate(1 / 8), 2)
    price = 30 + 9 * rooms + 2.4 * area - 0.7 * age - 3.1 * distance + rng.gauss(0, 8)
    return [rooms, area, age, distance, round(price, 1)]


def main() -> None:
    """Write the file beside this script."""
    rng = random.Random(SEED)
    with Path(__file__).with_name("housing.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(house(rng) for _ in range(HOUSES))


if __name__ == "__main__":
    main()

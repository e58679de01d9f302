"""Write the JSON schemas of all outputs."""

from __future__ import annotations

import json

from paddlespec.bundled import bundled
from paddlespec.shapes import all_schemas

for name, schema in all_schemas().items():
    path = bundled("schemas", "output", f"{name}.v1.json")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(schema, indent=2) + "\n")

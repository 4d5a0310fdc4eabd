"""Write data/frozen.json anew: `python -m generator.freeze`. Only before a release; a changed hash is a new benchmark."""

import json
from pathlib import Path

from generator.conditions import offline_conditions
from generator.frozen import content_sha256
from generator.task import generate
from generator.wording import frozen_hashes

FROZEN_SEEDS = range(10)


def frozen_table() -> dict[str, dict[str, str]]:
    """Return id and content hash of every frozen seed as this version makes them."""
    table = {}
    for seed in FROZEN_SEEDS:
        task, strategy = generate(seed, conditions=offline_conditions())
        table[str(seed)] = {"id": task.id, "sha256": content_sha256(task, strategy)}
    return table


def main() -> None:
    """Replace the released hashes by those of this version."""
    path = Path(__file__).parent / "data" / "frozen.json"
    path.write_text("{}\n", encoding="utf-8")
    frozen_hashes.cache_clear()
    path.write_text(json.dumps(frozen_table(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

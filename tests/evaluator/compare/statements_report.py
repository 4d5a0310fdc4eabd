"""`python -m tests.evaluator.compare.statements_report`: how well S is read from the labelled sentences, per file."""

import json
import sys
from pathlib import Path

from evaluator.compare.statements import read_statements
from evaluator.package.delivery import Message
from tests.evaluator.compare.labelled import item_of

CASES = Path(__file__).parents[1] / "cases"


def main() -> int:
    """Print precision and recall of the items that each file's sentences state."""
    for path in sorted(CASES.glob("user_sentences*.jsonl")):
        right = extra = lost = count = 0
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            items = tuple(item_of(identity, case.get("values", {})) for identity in case["belief_items"])
            found = read_statements((Message("user", 0, case["user_message"]),), items).stated
            wanted = set(case["stated"])
            right, extra, lost, count = (
                right + len(found & wanted),
                extra + len(found - wanted),
                lost + len(wanted - found),
                count + 1,
            )
        precision, recall = right / max(right + extra, 1), right / max(right + lost, 1)
        sys.stdout.write(
            f"{path.name}: {count} sentences, {right + lost} stated items, precision {precision:.2f}, recall {recall:.2f}\n"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tests.controls [NAME ...]`: run the matrix, or the controls whose name holds one of the words."""

import argparse
import sys

from tests.controls.alone import with_rerun
from tests.controls.bases import BASES, base
from tests.controls.every import CONTROLS
from tests.controls.matrix import counts, lacking, run, table


def main() -> int:
    """Print the matrix. Returns 1 when a line differs, a control broke, or the whole of it lacks what it must have."""
    parser = argparse.ArgumentParser(prog="python -m tests.controls", description=__doc__)
    parser.add_argument("names", nargs="*", help="words of the names to run; all without one")
    parser.add_argument("--reasons", action="store_true", help="say why, for each line that differs")
    options = parser.parse_args()
    chosen = [
        control
        for control in CONTROLS.values()
        if not options.names or any(word in control.name for word in options.names)
    ]
    for name in BASES:
        if any(control.base == name for control in chosen):
            with_rerun(base(name))
    lines, broken = run(chosen)
    out = [table(lines)]
    for one in lines:
        if options.reasons and not one.is_equal:
            out.append(f"\n{one.control.name}: expected {one.expected.changes}")
            out += [f"  {key}: {text}" for key, text in one.observed.reasons.items()]
    out += [f"broken {one.name}: {one.error}" for one in broken]
    missing = [] if options.names else lacking(lines)
    out += [counts(lines), *(f"lacking {one}" for one in missing)]
    print("\n".join(out))  # noqa: T201 the command line prints
    return 0 if not broken and not missing and all(one.is_equal for one in lines) else 1


if __name__ == "__main__":
    sys.exit(main())

"""All seeds of the fuzzer, and every input that once broke the reader, are read or refused."""

from pathlib import Path

import pytest

from tests.fuzz.reader import NAMES, read_bytes

SEEDS = sorted((Path(__file__).parent / "seeds").iterdir())


@pytest.mark.parametrize("seed", SEEDS, ids=lambda path: path.name)
def test_seed_is_read_or_refused(seed: Path, tmp_path: Path) -> None:
    data = seed.read_bytes()

    tables, refused = read_bytes(data, tmp_path)

    assert len(data) < 20_000
    assert tables or refused or not seed.name.startswith("read_")


def test_every_name_has_a_seed() -> None:
    assert {seed.read_bytes()[0] % len(NAMES) for seed in SEEDS} == set(range(len(NAMES)))

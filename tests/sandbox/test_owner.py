import subprocess
import sys

from sandbox.engine.owner import is_alive, this_owner


def test_this_process_then_alive() -> None:
    assert is_alive(this_owner())


def test_ended_process_then_dead() -> None:
    code = "from sandbox.engine.owner import this_owner; print(this_owner())"
    owner = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()

    assert owner.count(".") == 3
    assert not is_alive(owner)


def test_another_process_with_the_same_number_then_dead() -> None:
    boot, namespace, number, started = this_owner().split(".")

    assert not is_alive(f"{boot}.{namespace}.{number}.{int(started) - 1}")


def test_another_boot_then_dead() -> None:
    _, rest = this_owner().split(".", 1)

    assert not is_alive(f"00000000.{rest}")


def test_another_process_namespace_then_cannot_be_seen_and_counts_as_alive() -> None:
    boot, _, number, started = this_owner().split(".")

    assert is_alive(f"{boot}.1.{number}.{started}")


def test_no_owner_at_all_then_dead() -> None:
    assert not is_alive("somebody")

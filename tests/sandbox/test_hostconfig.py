from pathlib import Path

from records.limits import DEFAULT_LIMITS
from sandbox.engine.hostconfig import box_labels, create_body
from sandbox.engine.workspace import Workspace
from sandbox.protocol import SandboxSpec

SPEC = SandboxSpec(
    image="box:1",
    run="r1",
    session="s1",
    attempt=2,
    gateway_dir=Path("/run/s1"),
    lifetime_s=99.5,
    env={"HOME": "/x", "A": "b"},
)


def test_boundary_then_every_wall_stands() -> None:
    body = create_body(SPEC, Workspace("hard", Path("/dev/loop7")), Path("/cache/fw"), box_labels(SPEC, "me"))
    host = body["HostConfig"]

    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert host["Init"] is True
    assert "Privileged" not in host or host["Privileged"] is False
    assert host["Memory"] == host["MemorySwap"] == DEFAULT_LIMITS.memory_bytes
    assert host["PidsLimit"] == DEFAULT_LIMITS.pids
    assert host["LogConfig"]["Config"]["max-size"] == str(DEFAULT_LIMITS.log_bytes)
    assert {mount["Target"]: mount.get("ReadOnly", False) for mount in host["Mounts"]} == {
        "/workspace": False,
        "/run/gateway": True,
        "/run/forwarder": True,
    }
    assert body["User"] == "999:999"
    assert body["Entrypoint"][-1] == "100"


def test_labels_then_run_session_attempt_and_owner_only() -> None:
    assert box_labels(SPEC, "me") == {
        "fincosmos.run": "r1",
        "fincosmos.session": "s1",
        "fincosmos.attempt": "2",
        "fincosmos.owner": "me",
    }


def test_environment_then_the_specs_wins() -> None:
    body = create_body(SPEC, Workspace("hard", Path("/dev/loop7")), Path("/cache/fw"), {})

    assert set(body["Env"]) == {"HOME=/x", "USER=agent", "A=b"}


def test_soft_cap_then_a_plain_volume_and_a_file_size_limit() -> None:
    host = create_body(SPEC, Workspace("soft"), Path("/cache/fw"), {})["HostConfig"]

    assert "DriverConfig" not in host["Mounts"][0]["VolumeOptions"]
    assert host["Ulimits"] == [
        {"Name": "fsize", "Soft": DEFAULT_LIMITS.workspace_bytes, "Hard": DEFAULT_LIMITS.workspace_bytes}
    ]

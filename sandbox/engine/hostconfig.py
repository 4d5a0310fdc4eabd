"""What a box is made of, as the engine's create call takes it. Pure: reads nothing, asks nobody.

Source of the choices: architecture section 3 and docs/adr/0001-sandbox-boundary.md.
"""

from pathlib import Path
from typing import Any, Final

from sandbox.engine.forwarder import FOLDER, GATEWAY_FOLDER, pid1_command
from sandbox.engine.workspace import AGENT_ID, Workspace
from sandbox.protocol import WORKSPACE, SandboxSpec

GUARD: Final = "999:999"
"""PID 1 and the forwarders; another uid than the agent's, so that ending the agent spares them."""
AGENT: Final = f"{AGENT_ID}:{AGENT_ID}"
HOME: Final = "/home/agent"
LABEL_RUN: Final = "fincosmos.run"
LABEL_SESSION: Final = "fincosmos.session"
LABEL_ATTEMPT: Final = "fincosmos.attempt"
LABEL_OWNER: Final = "fincosmos.owner"
"""The process that made it (see `sweep`), so that only leftovers are swept."""
SHM_BYTES: Final = 64 * 1024 * 1024
MASKED: Final = (
    "/proc/acpi",
    "/proc/asound",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/sys/devices/virtual/block",
    "/sys/devices/virtual/powercap",
    "/sys/firmware",
)
"""The engine's own list, which this replaces, and the host's loop devices: their backing files name host paths."""
READ_ONLY: Final = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
"""The engine's own list."""


def box_labels(spec: SandboxSpec, owner: str) -> dict[str, str]:
    """Return the labels of a box and of its volume."""
    return {
        LABEL_RUN: spec.run,
        LABEL_SESSION: spec.session,
        LABEL_ATTEMPT: str(spec.attempt),
        LABEL_OWNER: owner,
    }


def create_body(spec: SandboxSpec, workspace: Workspace, forwarder: Path, labels: dict[str, str]) -> dict[str, Any]:
    """Return the body of the create call."""
    environment = {"HOME": HOME, "USER": "agent", **spec.env}
    return {
        "Image": spec.image,
        "Entrypoint": pid1_command(spec.lifetime_s),
        "Cmd": [],
        "User": GUARD,
        "WorkingDir": str(WORKSPACE),
        "Hostname": "sandbox",
        "Env": [f"{name}={value}" for name, value in environment.items()],
        "Labels": labels,
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": host_config(spec, workspace, forwarder),
    }


def host_config(spec: SandboxSpec, workspace: Workspace, forwarder: Path) -> dict[str, Any]:
    """Return the HostConfig: the whole boundary stands here."""
    limits = spec.limits
    tmpfs = f"rw,nosuid,nodev,exec,size={limits.tmp_bytes},nr_inodes={limits.workspace_inodes}"
    config: dict[str, Any] = {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "Privileged": False,
        "IpcMode": "private",
        "Init": True,
        "PidsLimit": limits.pids,
        "Memory": limits.memory_bytes,
        "MemorySwap": limits.memory_bytes,
        "NanoCpus": int(limits.cpus * 1e9),
        "ShmSize": SHM_BYTES,
        "Tmpfs": {
            "/tmp": f"{tmpfs},mode=1777",  # noqa: S108 (a path in the box)
            HOME: f"{tmpfs},mode=0700,uid={AGENT_ID},gid={AGENT_ID}",
        },
        "Mounts": [
            workspace.mount(),
            {"Type": "bind", "Source": str(spec.gateway_dir), "Target": str(GATEWAY_FOLDER), "ReadOnly": True},
            {"Type": "bind", "Source": str(forwarder), "Target": str(FOLDER), "ReadOnly": True},
        ],
        "LogConfig": {"Type": "json-file", "Config": {"max-size": str(limits.log_bytes), "max-file": "1"}},
        "RestartPolicy": {"Name": "no"},
        "MaskedPaths": list(MASKED),
        "ReadonlyPaths": list(READ_ONLY),
        "Runtime": spec.runtime,
    }
    if workspace.cap == "soft":
        size = limits.workspace_bytes
        config["Ulimits"] = [{"Name": "fsize", "Soft": size, "Hard": size}]
    return config

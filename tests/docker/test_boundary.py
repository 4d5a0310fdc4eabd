"""The box reaches nothing. Each probe first works from an ordinary container on a bridge of this test's own."""

import contextlib
import json
import secrets
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from docker.models.networks import Network
from docker.types import IPAMConfig, IPAMPool

from sandbox.engine.box import DockerSandbox
from sandbox.engine.engine import Engine
from tests.boxes import BASE, Boxes, boxes_on, python, shell

pytestmark = pytest.mark.docker

METADATA = "169.254.169.254"
OUTSIDE = "198.51.100.77"
NAME = "probe.fincosmos.test"
ANSWER = "203.0.113.9"
PORT = 18080

PROBE = """
import json, socket, sys
def tcp(host, port):
    with socket.create_connection((host, port), 2) as s:
        return s.recv(99).decode()
def unix(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(2); s.connect(path); s.sendall(b"GET /_ping HTTP/1.0\\r\\n\\r\\n"); return s.recv(999).decode()
def dns(name):
    return socket.gethostbyname(name)
def dns_direct(host):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(2); s.connect((host, 53)); s.send(bytes.fromhex("000101000001000000000000017801790000010001")); return s.recv(99).hex()
out = {}
for name, kind, *args in json.loads(sys.argv[1]):
    try: out[name] = ["ok", globals()[kind](*args)]
    except Exception as e: out[name] = ["failed", repr(e)]
print(json.dumps(out))
"""


@dataclass(frozen=True)
class World:
    """A bridge with listeners, and the probes that reach them."""

    network: Network
    gateway: str
    probes: list[list[object]]


def _bound(address: str, family: socket.AddressFamily) -> socket.socket:
    """Bind once the kernel has finished looking for a double of a new IPv6 address (about 1.5 s)."""
    server = socket.socket(family, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    for _ in range(50):
        try:
            server.bind((address, PORT))
        except OSError:
            time.sleep(0.1)
        else:
            return server
    server.close()
    raise OSError(f"{address} never became usable on the test's bridge")


def _banner(address: str, family: socket.AddressFamily) -> socket.socket:
    server = _bound(address, family)
    server.listen()

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = server.accept()
                with connection:
                    connection.sendall(b"reached")

    threading.Thread(target=serve, daemon=True).start()
    return server


def _name_server(address: str) -> socket.socket:
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                query, peer = server.recvfrom(512)
                end = query.index(b"\0", 12) + 5
                kind = query[end - 4 : end - 2]
                records = 1 if kind == b"\0\1" else 0
                head = query[:2] + b"\x81\x80" + struct.pack(">4H", 1, records, 0, 0)
                answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton(ANSWER) if records else b""
                server.sendto(head + query[12:end] + answer, peer)

    threading.Thread(target=serve, daemon=True).start()
    return server


@pytest.fixture(scope="module")
def world(engine: Engine) -> Iterator[World]:
    pools = [
        IPAMPool(subnet="172.31.251.0/24", gateway="172.31.251.1"),
        IPAMPool(subnet="fd00:fc05:1::/64", gateway="fd00:fc05:1::1"),
    ]
    network = engine.client.networks.create(
        f"fincosmos-test-{secrets.token_hex(4)}",
        driver="bridge",
        enable_ipv6=True,
        ipam=IPAMConfig(pool_configs=pools),
    )
    bridge = f"br-{str(network.id)[:12]}"
    gateway, gateway6 = "172.31.251.1", "fd00:fc05:1::1"
    with contextlib.ExitStack() as stack:
        stack.callback(network.remove)
        for address in (METADATA, OUTSIDE):
            subprocess.run(["ip", "address", "add", f"{address}/32", "dev", bridge], check=True)
        # An idle bridge has no carrier, and its IPv6 address stays tentative until a first container joins.
        idle = engine.client.containers.run(BASE, ["sleep", "120"], network=str(network.name), detach=True, init=True)
        stack.callback(idle.remove, force=True)
        for address, family in (
            (gateway, socket.AF_INET),
            (OUTSIDE, socket.AF_INET),
            (METADATA, socket.AF_INET),
            (gateway6, socket.AF_INET6),
        ):
            stack.callback(_banner(address, family).close)
        stack.callback(_name_server(gateway).close)
        probes: list[list[object]] = [
            ["ipv4", "tcp", OUTSIDE, PORT],
            ["ipv6", "tcp", gateway6, PORT],
            ["host gateway", "tcp", gateway, PORT],
            ["metadata address", "tcp", METADATA, PORT],
            ["name", "dns", NAME],
            ["name server", "dns_direct", gateway],
            ["docker socket", "unix", "/var/run/docker.sock"],
        ]
        yield World(network, gateway, probes)


@pytest.fixture(scope="module")
def box(boxes: Boxes) -> DockerSandbox:
    return boxes.thawed()


def test_every_probe_works_from_an_ordinary_container_and_none_from_the_box(
    engine: Engine, world: World, box: DockerSandbox
) -> None:
    outside = engine.client.containers.run(
        BASE,
        ["python3", "-c", PROBE, json.dumps(world.probes)],
        network=str(world.network.name),
        dns=[world.gateway],
        user="0:0",
        volumes={"/var/run/docker.sock": {"bind": "/var/run/docker.sock", "mode": "rw"}},
        remove=True,
    )
    inside = python(box, PROBE, json.dumps(world.probes))

    reached = json.loads(outside)
    assert {name: state for name, (state, _) in reached.items()} == {str(probe[0]): "ok" for probe in world.probes}
    assert reached["name"][1] == ANSWER
    assert "200 OK" in reached["docker socket"][1]
    found = json.loads(inside)
    assert {name: state for name, (state, _) in found.items()} == {str(probe[0]): "failed" for probe in world.probes}


def test_only_loopback_exists(engine: Engine, world: World, box: DockerSandbox) -> None:
    listing = ["sh", "-c", "ls /sys/class/net; cat /proc/net/route | wc -l"]
    outside = engine.client.containers.run(BASE, listing, network=str(world.network.name), remove=True).decode().split()

    assert "eth0" in outside
    assert int(outside[-1]) > 1
    assert shell(box, "ls /sys/class/net; cat /proc/net/route | wc -l").split() == ["lo", "1"]
    assert {line.split()[-1] for line in shell(box, "cat /proc/net/if_inet6").splitlines()} <= {"lo"}


def test_root_is_read_only_and_only_the_stated_folders_take_files(box: DockerSandbox) -> None:
    script = "for d in / /usr /etc /opt /var /root /run /run/gateway /run/forwarder /srv; do touch $d/x 2>/dev/null && echo $d; done"
    taken = "for d in /workspace /workspace/deliver /tmp /home/agent /dev/shm; do touch $d/x && echo $d; done"

    assert shell(box, script) == ""
    assert shell(box, taken).split() == ["/workspace", "/workspace/deliver", "/tmp", "/home/agent", "/dev/shm"]
    assert (
        "Read-only file system"
        in box.exec(["/run/forwarder/busybox", "touch", "/tmp/../x"], timeout_s=5).stderr.decode()
    )


def test_the_agent_has_no_capability_and_cannot_gain_any(box: DockerSandbox) -> None:
    status = dict(line.split(":\t", 1) for line in shell(box, "cat /proc/self/status").splitlines() if ":\t" in line)

    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    assert status["Uid"].split() == ["1000"] * 4
    assert status["Gid"].split() == ["1000"] * 4
    assert "ermi" in shell(box, "unshare -Ur true; mount -t tmpfs x /mnt")


def test_pid_1_and_the_forwarders_are_out_of_the_agents_hands(box: DockerSandbox) -> None:
    out = shell(
        box,
        "for p in 1 $(pgrep -u 999); do kill -9 $p 2>/dev/null && echo killed; cat /proc/$p/environ 2>/dev/null; "
        "ls /proc/$p/fd 2>/dev/null; done; rm -f /run/gateway/gw.sock 2>/dev/null || echo kept",
    )

    assert out.split() == ["kept"]
    assert python(box, "import socket; print(socket.create_connection(('127.0.0.1', 8801)).recv(9))") == "b'gw'\n"
    assert python(box, "import socket; print(socket.create_connection(('127.0.0.1', 8802)).recv(9))") == "b'web'\n"


def test_nothing_in_the_box_names_host_sessions_or_disks(boxes: Boxes, box: DockerSandbox) -> None:
    seen = shell(
        box, "env; cat /proc/self/mountinfo /proc/1/cmdline /proc/mounts; ls -R /sys/block/*/loop 2>&1; hostname"
    )

    assert box.name not in seen
    assert "test-run" not in seen
    assert str(boxes.gateway.folder.parent / "sessions") not in seen
    assert "backing_file" not in seen
    assert shell(box, "ls /sys/devices/virtual/block") == ""


def test_mounts_are_the_workspace_and_two_read_only_folders(engine: Engine, box: DockerSandbox) -> None:
    inspected = engine.client.api.inspect_container(box.id)
    mounts = {mount["Destination"]: (mount["Type"], mount["RW"]) for mount in inspected["Mounts"]}

    assert mounts == {
        "/workspace": ("volume", True),
        "/run/gateway": ("bind", False),
        "/run/forwarder": ("bind", False),
    }
    config = inspected["HostConfig"]
    assert config["NetworkMode"] == "none"
    assert config["Memory"] == config["MemorySwap"] > 0
    assert set(inspected["Config"]["Labels"]) >= {"fincosmos.run", "fincosmos.session", "fincosmos.attempt"}
    assert inspected["NetworkSettings"]["Networks"].keys() == {"none"}


def test_gateway_restarted_and_slow_to_answer_then_a_client_that_sent_its_all_still_hears(engine: Engine) -> None:
    with boxes_on(engine) as boxes:
        box = boxes.thawed()
        path = boxes.gateway.folder / "gw.sock"
        path.unlink()
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
            path.chmod(0o666)
            server.listen()

            def serve() -> None:
                connection, _ = server.accept()
                with connection:
                    while connection.recv(99):
                        pass
                    time.sleep(1.0)
                    connection.sendall(b"late")

            thread = threading.Thread(target=serve)
            thread.start()
            answer = python(
                box,
                "import socket; s = socket.create_connection(('127.0.0.1', 8801)); s.sendall(b'all'); "
                "s.shutdown(socket.SHUT_WR); print(s.recv(9))",
            )
            thread.join()

    assert answer == "b'late'\n"

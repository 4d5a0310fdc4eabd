"""The services of a run: the offline data service where one is used, and the gateway, each in a process of its own.

Keys go to them by environment and are kept nowhere else. Both end with this process, however that ends.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.process import RunningGateway, start_gateway
from gateway.settings import GatewayConfig, SessionSpec, WebPolicy
from offline.fmp import start_fmp
from records.errors import PrerequisiteError, ProviderError
from records.limits import Limits
from records.paths import AttemptPaths
from records.run import FmpTools
from records.task import Conditions
from runner.preflight import KEY_VARIABLE

_GUARD_GID = 999
"""Group of the forwarder in every box; only root can hand sockets to it, others open them to all."""


@dataclass(frozen=True)
class Upstream:
    """Where the gateway asks for data, and with which key."""

    base_url: str
    key: str


@dataclass(frozen=True)
class GatewayDoor:
    """The running gateway as sessions need it (`runner.attempt.Door`)."""

    gateway: RunningGateway
    sockets: Path
    """Folder of the run; each session gets a folder below it."""
    conditions: Conditions
    offline: bool

    def open(self, session: str, paths: AttemptPaths) -> Path:
        """Begin to listen for a session. Raises ProviderError: the gateway is gone."""
        folder = self.sockets / session
        self.gateway.client.add_session(
            SessionSpec(
                session=session,
                socket_dir=str(folder),
                calls_path=str(paths.calls),
                bodies_dir=str(paths.bodies),
                channels=self.conditions.channels,
                web=WebPolicy(mode="offline" if self.offline else "public"),
            )
        )
        return folder

    def close(self, session: str) -> None:
        """Stop listening; the call log is complete afterwards. Raises ProviderError."""
        self.gateway.client.remove_session(session)

    def check(self, session: str) -> None:
        """Raise ProviderError when the gateway ended, or the data service failed a session for long."""
        self.gateway.check_alive()
        seen = self.gateway.client.witness(session)
        if seen.is_lasting:
            raise ProviderError(
                f"data service: expected answers, found {seen.last_failure} on the last {seen.failing_in_a_row} calls; "
                "the session is void"
            )


@contextmanager
def open_gateway(
    upstream: Upstream,
    conditions: Conditions,
    *,
    offline: bool,
    limits: Limits,
    log_to: Path,
    fmp_tools: FmpTools = "flat",
) -> Iterator[GatewayDoor]:
    """Run a gateway whose upstream answered once with the key, while the block runs.

    Args: log_to: where its log is put at the end, when it has any and the folder is there by then.
    Raises: PrerequisiteError: it did not come up, or the data service refused the key or did not answer.
    """
    config = GatewayConfig(
        fmp_base_url=upstream.base_url,
        fmp_shape=fmp_tools,
        socket_gid=_GUARD_GID if os.geteuid() == 0 else None,
        limits=limits,
    )
    with tempfile.TemporaryDirectory(prefix="fincosmos-") as scratch:
        log = Path(scratch) / "gateway.log"
        try:
            with start_gateway(config, key=upstream.key, log_path=log) as gateway:
                _check_upstream(gateway, upstream.base_url)
                yield GatewayDoor(gateway, Path(scratch), conditions, offline=offline)
        finally:
            if log_to.parent.is_dir() and log.exists() and log.stat().st_size:
                shutil.copyfile(log, log_to)


@contextmanager
def open_services(
    data: Path | None,
    conditions: Conditions,
    *,
    live: Upstream | None,
    limits: Limits,
    log_to: Path,
    fmp_tools: FmpTools = "flat",
) -> Iterator[GatewayDoor]:
    """Run the gateway on the live upstream, or without one on the offline data service with a key of this run's own."""
    with ExitStack() as stack:
        if live is None:
            if data is None:
                raise PrerequisiteError("offline data: expected prepared tables, found none; run again")
            key = secrets.token_hex(24)
            live = Upstream(stack.enter_context(start_fmp(data, key)).base_url, key)
        offline = data is not None
        yield stack.enter_context(
            open_gateway(live, conditions, offline=offline, limits=limits, log_to=log_to, fmp_tools=fmp_tools)
        )


def _check_upstream(gateway: RunningGateway, base_url: str) -> None:
    probe = gateway.client.probe()
    if probe.ok:
        return
    if "refused" in probe.reason and probe.status is not None:
        raise PrerequisiteError(
            f"data service {base_url}: the key in {KEY_VARIABLE} was refused (HTTP {probe.status}); "
            "set the right one and run again"
        )
    raise PrerequisiteError(
        f"data service {base_url}: expected an answer, found {probe.reason or probe.status}; "
        "check the network and run again"
    )

from datetime import UTC, datetime
from pathlib import Path

import pytest

from offline.data import ensure
from records.limits import DEFAULT_LIMITS
from records.run import FmpTools
from runner import wiring
from runner.door import GatewayDoor
from runner.order import Order, resolve

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(("shape", "tools"), [("flat", 245), ("grouped", 27)])
def test_tools_of_the_order_are_what_the_gateway_serves(tmp_path: Path, shape: FmpTools, tools: int) -> None:
    order = Order(agents="null", seeds="6", offline=True, out=tmp_path / "run", fmp_tools=shape)
    plan = resolve(order, known=wiring.AGENTS, now=datetime.now(UTC))

    with wiring.open_door(plan, ensure(), {}, DEFAULT_LIMITS) as door:
        assert isinstance(door, GatewayDoor)
        health = door.gateway.client.health()

    assert (health.fmp_shape, health.tools) == (shape, tools)

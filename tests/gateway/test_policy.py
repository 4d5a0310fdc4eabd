import asyncio

import pytest

from gateway.policy import HostPolicy, HostRefusedError, is_public
from gateway.settings import WebPolicy

PUBLIC = "93.184.215.14"


def policy(addresses: list[str] | None = None, **fields: object) -> HostPolicy:
    async def resolve(_host: str, _port: int) -> list[str]:
        return addresses if addresses is not None else [PUBLIC]

    return HostPolicy(WebPolicy.model_validate(fields), resolve=resolve)


def allowed(host: str, port: int = 443, addresses: list[str] | None = None, **fields: object) -> list[str]:
    return asyncio.run(policy(addresses, **fields).addresses(host, port))


@pytest.mark.parametrize("host", ["data.nasdaq.com", "WWW.SEC.GOV", "sec.gov.", "xn--bcher-kva.de", "bücher.de"])
def test_public_name_is_connected_to_at_its_checked_address(host: str) -> None:
    assert allowed(host) == [PUBLIC]


@pytest.mark.parametrize(
    "host",
    [
        *(
            "localhost",
            "gateway",
            "db",
            "printer.local",
            "metadata.google.internal",
            "a.localhost",
            "nas.lan",
            "x.test",
        ),
        *(
            "1.0.0.127.in-addr.arpa",
            "host.docker.internal",
            "",
            ".",
            "a b.com",
            "user@evil.com",
            "evil.com/path",
            "a%00.com",
        ),
    ],
)
def test_name_that_is_not_public_is_refused_before_resolution(host: str) -> None:
    with pytest.raises(HostRefusedError):
        allowed(host)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "8.8.8.8", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "::1", "[::1]", "2606:4700::1111"],
)
def test_numeric_address_in_any_form_is_refused(host: str) -> None:
    with pytest.raises(HostRefusedError, match="numeric addresses"):
        allowed(host)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200"),
        *("0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::"),
        *("2002:a9fe:a9fe::", "not-an-address"),
    ],
)
def test_name_that_resolves_to_what_is_not_public_is_refused(address: str) -> None:
    assert not is_public(address)
    with pytest.raises(HostRefusedError, match="not public"):
        allowed("rebind.example.com", addresses=[address])


def test_one_bad_address_among_good_ones_refuses_the_name() -> None:
    with pytest.raises(HostRefusedError, match="not public"):
        allowed("rebind.example.com", addresses=[PUBLIC, "127.0.0.1"])


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::ffff:8.8.8.8"])
def test_public_address_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("host", ["fincosmos.org", "www.FinCosmos.io", "fincosmos.readthedocs.io"])
def test_own_names_are_denied(host: str) -> None:
    with pytest.raises(HostRefusedError, match="belongs to the benchmark"):
        allowed(host)


def test_own_names_are_denied_inside_a_visible_url() -> None:
    with pytest.raises(HostRefusedError, match="belongs to the benchmark"):
        policy().check_url("http://packages.org/project/FinCosmos/")
    policy().check_url("http://packages.org/project/pandas/")


@pytest.mark.parametrize("port", [22, 25, 53, 2375, 6379, 65535])
def test_port_of_another_service_is_refused(port: int) -> None:
    with pytest.raises(HostRefusedError, match=f"port {port}"):
        allowed("data.nasdaq.com", port)


def test_offline_refuses_every_host_without_resolving() -> None:
    async def resolve(host: str, _port: int) -> list[str]:
        raise AssertionError(host)

    offline = HostPolicy(WebPolicy(mode="offline"), resolve=resolve)
    for host in ("data.nasdaq.com", "127.0.0.1", "localhost"):
        with pytest.raises(HostRefusedError, match="no web access"):
            asyncio.run(offline.addresses(host, 443))


def test_name_without_an_address_is_no_refusal_but_unreachable() -> None:
    with pytest.raises(OSError, match="has no address"):
        allowed("nowhere.example.com", addresses=[])


def test_slow_resolver_is_given_up() -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    slow = HostPolicy(WebPolicy(), resolve=resolve, timeout_s=0.05)
    with pytest.raises(TimeoutError):
        asyncio.run(slow.addresses("slow.example.com", 443))

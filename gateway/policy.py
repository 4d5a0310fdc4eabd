"""Which web hosts an agent may reach: public names only, checked after resolution, and connected to as checked."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

from gateway.settings import WebPolicy

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]

# Names that mean something only on a machine or in a local network (RFC 6761, 6762, 8375, 9476), and metadata services.
LOCAL_SUFFIXES = (
    *(".localhost", ".local", ".internal", ".intranet", ".lan", ".home", ".home.arpa", ".corp", ".private"),
    *(".test", ".invalid", ".example", ".onion", ".alt", ".arpa"),
)
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class HostRefusedError(Exception):
    """The policy refuses a host; the text says why, for the agent and for the log."""


async def system_resolve(host: str, port: int) -> list[str]:
    """Return the host's addresses as text. Raises OSError when the name does not resolve."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def embedded(address: Address) -> list[Address]:
    """Return the address and every IPv4 address that it carries inside (mapped, 6to4, Teredo, NAT64)."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    carried = (address.ipv4_mapped, address.sixtofour, *(address.teredo or ()))
    inside: list[Address] = [address, *(inner for inner in carried if inner is not None)]
    if address in NAT64:
        inside.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return inside


def is_public(text: str) -> bool:
    """Whether an address, and all it embeds, is reachable on the public Internet and on nothing nearer."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    candidates = embedded(address)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        candidates = [address.ipv4_mapped]
    return all(one.is_global and not one.is_multicast and not one.is_reserved for one in candidates)


def clean_name(host: str) -> str:
    """Return a host in lower case ASCII without its final dot. Raises HostRefusedError when it is no host name."""
    bare = host.strip().rstrip(".").lower()
    try:
        name = bare.encode("idna").decode() if not bare.isascii() else bare
    except UnicodeError as exc:
        raise HostRefusedError(f"{host[:80]!r} is not a host name") from exc
    if not name or len(name) > 253 or any(character in name for character in " /\\@#?%\"'<>\0\r\n\t"):
        raise HostRefusedError(f"{host[:80]!r} is not a host name")
    return name


def is_address(name: str) -> bool:
    """Whether a host is a numeric address in any form that a resolver would take (dotted, decimal, hexadecimal, IPv6)."""
    if ":" in name or name.startswith("["):
        return True
    try:
        socket.inet_aton(name)
    except OSError:
        return False
    return True


class HostPolicy:
    """One session's policy."""

    def __init__(
        self,
        policy: WebPolicy,
        *,
        resolve: Resolve = system_resolve,
        is_public: Callable[[str], bool] = is_public,
        timeout_s: float = 10.0,
    ) -> None:
        """Keep the rules; `resolve` and `is_public` are replaced in tests."""
        self._policy, self._resolve, self._is_public, self._timeout_s = policy, resolve, is_public, timeout_s

    def check_url(self, url: str) -> None:
        """Raises HostRefusedError when a visible URL names what is kept from agents."""
        self._check_denied(url.lower())

    def _check_denied(self, text: str) -> None:
        for word in self._policy.denied:
            if word.lower() in text:
                raise HostRefusedError("this address belongs to the benchmark itself and is not available")

    def check_name(self, host: str, port: int) -> str:
        """Return the clean name. Raises HostRefusedError before anything is resolved."""
        if self._policy.mode == "offline":
            raise HostRefusedError("there is no web access in this session")
        name = clean_name(host)
        if is_address(name):
            raise HostRefusedError("numeric addresses are not available, only public host names")
        if "." not in name or name.endswith(LOCAL_SUFFIXES):
            raise HostRefusedError(f"{name} is not a public host name")
        if port not in self._policy.ports:
            raise HostRefusedError(f"port {port} is not available, only {', '.join(map(str, self._policy.ports))}")
        self._check_denied(name)
        return name

    async def addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses that may be connected to, all of them public.

        Raises: HostRefusedError: the name or any of its addresses is not allowed; OSError: the name does not resolve.
        """
        name = self.check_name(host, port)
        async with asyncio.timeout(self._timeout_s):
            found = await self._resolve(name, port)
        if not found:
            raise OSError(f"{name} has no address")
        for address in found:
            if not self._is_public(address):
                raise HostRefusedError(f"{name} resolves to an address that is not public")
        return found

"""Keeps keys out of everything written: known secrets by value, unknown ones by the name they travel under."""

from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

REMOVED = "[removed]"
SECRET_NAMES = frozenset(
    [
        "apikey",
        "api_key",
        "api-key",
        "x-api-key",
        "key",
        "token",
        "access_token",
        "auth",
        "authorization",
        "proxy-authorization",
        "cookie",
        "set-cookie",
        "password",
        "passwd",
        "secret",
        "client_secret",
        "signature",
        "sig",
    ]
)


class Redactor:
    """Removes the given secrets, plain and percent-encoded, from text and bytes."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Keep the secrets that are long enough not to hit ordinary words."""
        plain = [secret for secret in secrets if secret]
        self._texts = sorted(
            {form for secret in plain for form in (secret, quote(secret, safe=""))}, key=len, reverse=True
        )

    def text(self, text: str) -> str:
        """Return the text without any secret."""
        for secret in self._texts:
            text = text.replace(secret, REMOVED)
        return text

    def body(self, body: bytes) -> bytes:
        """Return the bytes without any secret."""
        for secret in self._texts:
            body = body.replace(secret.encode(), REMOVED.encode())
        return body

    def params(self, params: Mapping[str, str]) -> dict[str, str]:
        """Return the parameters, values that travel under a secret's name removed."""
        return {
            self.text(name): REMOVED if name.lower() in SECRET_NAMES else self.text(value)
            for name, value in params.items()
        }

    def url(self, url: str) -> str:
        """Return the URL without user information, fragment, or values of secret parameters."""
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        if any(name.lower() in SECRET_NAMES for name, _ in pairs):
            query = urlencode([(n, REMOVED if n.lower() in SECRET_NAMES else v) for n, v in pairs])
        else:
            query = parts.query
        return self.text(urlunsplit((parts.scheme, host, parts.path, query, "")))

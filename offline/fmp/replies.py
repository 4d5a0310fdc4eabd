"""FMP's own refusals, word for word, and the exception that carries them to the client.

Source: bodies recorded by public clients' tests and probes, 2026-08; the live API was not asked.
"""

import json
from dataclasses import dataclass

TEXT, JSON = "text/plain", "application/json"


@dataclass(frozen=True)
class Reply:
    """One HTTP answer."""

    status: int
    body: bytes
    content_type: str = JSON


class ApiError(Exception):
    """An answer other than 200 that an endpoint decided on."""

    def __init__(self, reply: Reply) -> None:
        """Keep the answer."""
        super().__init__(reply.body.decode())
        self.reply = reply


def _message(status: int, text: str) -> Reply:
    return Reply(status, json.dumps({"Error Message": text}).encode())


INVALID_KEY = _message(
    401,
    "Invalid API KEY. Feel free to create a Free API Key or visit "
    "https://site.financialmodelingprep.com/faqs?search=why-is-my-api-key-invalid for more information.",
)
LIMIT_REACHED = _message(
    429,
    "Limit Reach . Please upgrade your plan or visit our documentation for more details at "
    "https://site.financialmodelingprep.com/",
)
LEGACY = _message(
    403,
    "Legacy Endpoint : Due to Legacy endpoints being no longer supported - This endpoint is only available for legacy "
    "users who have valid subscriptions prior August 31, 2025. Please visit our subscription page to upgrade.",
)
RESTRICTED = Reply(
    402,
    b"Restricted Endpoint: This endpoint is not available under your current subscription please visit our "
    b"subscription page to upgrade your plan at https://financialmodelingprep.com/",
    TEXT,
)
NOT_FOUND = Reply(404, b"[]")
BAD_GATEWAY = Reply(502, b"<html><head><title>502 Bad Gateway</title></head></html>", "text/html")


def missing_parameter(name: str) -> ApiError:
    """Return the answer to a request without a needed parameter, or with one that cannot be read."""
    return ApiError(Reply(400, f"Query Error: Invalid or missing query parameter - {name}".encode(), TEXT))


def premium_parameter(name: str) -> ApiError:
    """Return the answer to a parameter value that the plan does not include."""
    text = (
        f"Premium Query Parameter: 'Special Endpoint : This value set for '{name}' is not available under your current "
        "subscription please visit our subscription page to upgrade your plan at https://financialmodelingprep.com/'"
    )
    return ApiError(Reply(402, text.encode(), TEXT))


def reply_for(status: int) -> Reply:
    """Return FMP's body for a status that a test asks the stand-in to answer with."""
    known = {401: INVALID_KEY, 402: RESTRICTED, 403: LEGACY, 404: NOT_FOUND, 429: LIMIT_REACHED}
    return known.get(status, Reply(status, BAD_GATEWAY.body, BAD_GATEWAY.content_type))

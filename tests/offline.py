"""The real SDK's client over the offline API, and calls by hand."""

import json

import anthropic
import httpx2

from harness_zero.messages import reply
from harness_zero.simulator.api import Api, Call
from harness_zero.simulator.transport import transport

KEYED = {"x-api-key": "none", "anthropic-version": "2026-10-21"}


def client(source, retries=0, wait=lambda seconds: None, **options):
    """The SDK's client; behind it stands an API with this source, or this API."""
    served = httpx2.Client(transport=transport(source, wait))
    return anthropic.Anthropic(
        api_key="offline",
        base_url="http://offline",
        http_client=served,
        max_retries=retries,
        **options,
    )


def fine(body):
    """A source that has the same to say to every request."""
    return reply("ok")


def post(api, body, headers=KEYED, path="/v1/messages"):
    """One request by hand; the body may be bytes that are no JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return api(Call("POST", path, content, "", headers))


def new_api(source=fine, **options):
    """An API that answers `ok`."""
    return Api(source, **options)

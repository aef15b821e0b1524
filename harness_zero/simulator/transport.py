"""The way between the real SDK and the offline API: in this process, without a network."""

from collections.abc import Callable

import httpx2

from harness_zero.simulator.api import Api, Call
from harness_zero.simulator.exchange import Answer, Source


def transport(
    source: Source | Api, wait: Callable[[float], None] = lambda seconds: None
) -> httpx2.MockTransport:
    """A transport for the SDK's client; behind it stands an API with this source.

    A slow answer calls `wait` with its seconds; one that takes longer than the client
    waits is a time-out.
    """
    api = source if isinstance(source, Api) else Api(source)

    def serve(request: httpx2.Request) -> httpx2.Response:
        answer = api(called(request))
        if answer.lost == "before":
            raise httpx2.ConnectError("connection refused", request=request)
        patience = request.extensions.get("timeout", {}).get("read")
        wait(min(answer.seconds, patience or answer.seconds))
        if patience is not None and answer.seconds > patience:
            raise httpx2.ReadTimeout("timed out", request=request)
        if answer.lost == "after":
            raise httpx2.RemoteProtocolError("server disconnected", request=request)
        return response(answer)

    return httpx2.MockTransport(serve)


def called(request: httpx2.Request) -> Call:
    """The request as the API takes it."""
    url, headers = request.url, dict(request.headers)
    return Call(request.method, url.path, request.content, url.query.decode(), headers)


def response(answer: Answer) -> httpx2.Response:
    """The answer as it goes back; a text that is no JSON goes back as it is."""
    headers = dict(answer.headers)
    if isinstance(answer.body, str):
        return httpx2.Response(answer.status, text=answer.body, headers=headers)
    return httpx2.Response(answer.status, json=answer.body, headers=headers)

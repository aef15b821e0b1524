"""An offline Messages API inside this process: the real SDK sends to it and notices nothing.

Behind it stands any model of ours. Token counts are estimates, since no tokenizer
of the real models is public: 2.5 characters a token (Claude documentation, context
windows, 2026-08-21).
"""

import json
from collections.abc import Callable
from itertools import count
from math import ceil
from typing import Any

import httpx2

from harness_zero.messages import request_fault

CHARACTERS_A_TOKEN = 2.5

Body = dict[str, Any]


def transport(model: Callable[[Body], Body]) -> httpx2.MockTransport:
    """A transport for the SDK's client whose server answers with this model's replies."""
    numbers = count(1)

    def serve(request: httpx2.Request) -> httpx2.Response:
        number = next(numbers)
        body = json.loads(request.content)
        status, answer = respond(model, body, number)
        return httpx2.Response(status, json=answer, headers={"request-id": f"req_{number:02}"})

    return httpx2.MockTransport(serve)


def respond(model: Callable[[Body], Body], body: Body, number: int) -> tuple[int, Body]:
    """The status and the body with which the API answers this request."""
    if fault := request_fault(body["messages"]):
        error = {"type": "invalid_request_error", "message": fault}
        return 400, {"type": "error", "error": error, "request_id": f"req_{number:02}"}
    reply = model(body)
    return 200, {
        "id": f"msg_{number:02}",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": reply["content"],
        "stop_reason": reply["stop_reason"],
        "stop_sequence": None,
        "usage": {
            "input_tokens": estimated(
                {name: body.get(name) for name in ("system", "tools", "messages")}
            ),
            "output_tokens": estimated(reply["content"]),
        },
    }


def estimated(content: Any) -> int:
    """About how many tokens this is."""
    return ceil(len(json.dumps(content, ensure_ascii=False)) / CHARACTERS_A_TOKEN)

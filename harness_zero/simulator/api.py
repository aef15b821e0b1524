"""The offline Messages API: a request comes in as bytes, an answer goes out, and the log says why.

It obeys the rules that docs/messages_api.md lists. What it says of tokens is an estimate.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from harness_zero.brief import brief
from harness_zero.faults import SetupFault
from harness_zero.messages import Block, Reply
from harness_zero.simulator.catalogue import MODELS, Facts
from harness_zero.simulator.exchange import Answer, Body, Source
from harness_zero.simulator.judge import Judge, characters
from harness_zero.simulator.rule import Asked, Refusal, Rule, Served, kind_of
from harness_zero.simulator.rules import RULES
from harness_zero.simulator.signature import is_thought, signed
from harness_zero.simulator.speech import held, tokens, weight

VERSIONS = ("2023-06-01", "2026-10-21")
LARGEST = 32 * 1024 * 1024  # bytes of a request to /v1/messages
NOT_AGAIN = {"x-should-retry": "false"}
DEEP = Refusal(
    "The request body is not valid JSON: nested too deeply",
    "Something in the request holds something that holds something, and so on; make it flat.",
)


@dataclass(frozen=True)
class Call:
    """One request as it comes over the wire; header names are small."""

    method: str
    path: str
    content: bytes = b""
    query: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Logged:
    """One line of the API's own log: what was answered, and a sentence for a learner."""

    number: int
    what: str  # POST /v1/messages
    status: int
    words: str = ""  # what is wrong, where, how to mend it
    rule: Rule | None = None  # that the request broke

    def __str__(self) -> str:
        return " · ".join(
            filter(None, (f"req_{self.number:02}", self.what, str(self.status), self.words))
        )


class Refused(Exception):
    """A request gets an error for an answer."""

    def __init__(self, refusal: Refusal, rule: Rule | None = None) -> None:
        self.refusal, self.rule = refusal, rule
        super().__init__(refusal.message)


class Api:
    """An offline Messages API. `source` answers what breaks no rule; `log` tells what happened."""

    def __init__(self, source: Source, rules: Sequence[Rule] = RULES, version: str = "") -> None:
        self.source, self.version = source, version
        self.judge, self.served = Judge(rules), Served()
        self.strict = bool(rules)
        self.log: list[Logged] = []
        self.fault: SetupFault | None = None  # why the last answer could not be given

    def __call__(self, call: Call) -> Answer:
        """Answer one request; whatever is wrong with it, the answer has the API's shape."""
        number, self.fault = len(self.log) + 1, None
        what, words, rule = f"{call.method} {call.path}", "", None
        try:
            answer = self.route(call, number)
        except Refused as refused:
            answer, words, rule = error(refused.refusal, number), refused.refusal.mend, refused.rule
        except SetupFault as fault:
            self.fault, words = fault, str(fault)
            answer = error(Refusal(str(fault), "", 500), number, NOT_AGAIN)
        except RecursionError:
            answer = error(DEEP, number)
        except Exception as error_:
            words = f"what stands behind the API failed: {type(error_).__name__}: {error_}"
            answer = error(Refusal("Internal server error", "", 500), number)
        headers = {"request-id": request_id(number), **answer.headers}
        answer = Answer(answer.body, answer.status, headers, answer.seconds, answer.lost)
        words = words or lost_words(answer)
        self.log.append(Logged(number, what, answer.status, words, rule))
        return answer

    def route(self, call: Call, number: int) -> Answer:
        """Find who answers: the model, the counter of tokens, or the list of models."""
        authenticate(call.headers)
        version = self.version or versioned(call.headers)
        path = call.path.rstrip("/")
        if path == "/v1/messages":
            demand("POST", call)
            return self.speak(self.asked(call, version), number)
        if path == "/v1/messages/count_tokens":
            demand("POST", call)
            return self.count(self.asked(call, version, counting=True))
        if path == "/v1/models" or path.startswith("/v1/models/"):
            demand("GET", call)
            return models(path.removeprefix("/v1/models").strip("/"), call.query)
        mend = (
            f"There is no {call.path} here; there are /v1/messages, its /count_tokens, /v1/models."
        )
        raise Refused(Refusal("Not Found", mend, 404))

    def asked(self, call: Call, version: str, counting: bool = False) -> Asked:
        """The request as the rules see it, once it has kept them all."""
        body = parsed(call.content)
        name = body.get("model")
        facts = MODELS.get(name, Facts("")) if isinstance(name, str) else Facts("")
        asked = Asked(body, facts, version, self.served, counting)
        if self.strict and (broken := self.judge.fault(asked)):
            raise Refused(broken[1], broken[0])
        if body.get("stream"):
            mend = "This offline API answers whole replies only; leave out stream."
            raise Refused(Refusal("stream: not supported here", mend))
        return asked

    def speak(self, asked: Asked, number: int) -> Answer:
        """What the model says to a request that broke no rule."""
        read = self.read(asked)
        given = self.source(asked.body)
        if isinstance(given, Answer):
            return Answer(
                self.whole(given.body, asked, number, read),
                given.status,
                given.headers,
                given.seconds,
                given.lost,
            )
        return Answer(self.whole(given, asked, number, read))

    def whole(self, given: Any, asked: Asked, number: int, read: int) -> Any:
        """A reply as a message of the API; whatever is none stays as it is."""
        if isinstance(given, dict) and given.get("type") == "error":
            return {**given, "request_id": request_id(number)}
        if not isinstance(given, dict) or "content" not in given or given.get("type") == "message":
            return given
        reply = held(given, asked.body, asked.model)
        chain = self.judge.known[0].chain if asked.model.binds and self.strict else ""
        content = [signed(b, chain) if is_thought(b) else b for b in reply["content"]]
        reply = {**reply, "content": content}
        self.remember(reply)
        written = tokens(sum(map(weight, content)), asked.model)
        return message(content, reply, asked.body["model"], number, read, written)

    def remember(self, reply: Reply) -> None:
        """Keep what the rules, or the source, will ask of this reply when it comes back."""
        content = reply["content"]
        self.served.kinds.update(block["type"] for block in content)
        if reply.get("stop_reason") == "pause_turn":
            self.served.paused.append(content)
        if thoughts := [block for block in content if is_thought(block)]:
            calls = (block["id"] for block in content if block["type"] == "tool_use")
            self.served.thoughts.update((id, thoughts) for id in calls)
        if heard := getattr(self.source, "heard", None):
            heard(reply)

    def read(self, asked: Asked) -> int:
        """About how many tokens the model reads; refused if they do not fit into its window."""
        if not self.strict:
            return tokens(characters(asked.body["messages"]), asked.model)
        read = tokens(self.judge.size(asked.body), asked.model)
        if read > asked.model.window:
            said = f"prompt is too long: {read} tokens > {asked.model.window} maximum"
            mend = "The array is longer than the model can read; compact it, or begin a new one."
            raise Refused(Refusal(said, mend))
        return read

    def count(self, asked: Asked) -> Answer:
        """An estimate of what the request holds."""
        return Answer({"input_tokens": self.read(asked)})


def authenticate(headers: Mapping[str, str]) -> None:
    """A key in either of the two headers; which one it is does not matter offline."""
    bearer = headers.get("authorization", "")
    if not (headers.get("x-api-key") or bearer.removeprefix("Bearer ").strip()):
        mend = "The request has no key, neither Authorization: Bearer nor x-api-key."
        raise Refused(Refusal("x-api-key header is required", mend, 401))


def versioned(headers: Mapping[str, str]) -> str:
    """The version of the API that a request is written for."""
    version = headers.get("anthropic-version", "")
    if not version:
        raise Refused(Refusal("anthropic-version: header is required", "Send anthropic-version."))
    if version not in VERSIONS:
        mend = f"There is no API version {brief(version)}; there are {' and '.join(VERSIONS)}."
        said = f'anthropic-version: "{version[:40]}" is not a valid version'
        raise Refused(Refusal(said, mend))
    return version


def demand(method: str, call: Call) -> None:
    """This address takes one method."""
    if call.method != method:
        mend = f"{call.path} takes {method}, not {call.method}."
        raise Refused(Refusal("Method Not Allowed", mend, 405))


def parsed(content: bytes) -> Body:
    """The request's body, once it is a JSON object of a size that the API takes."""
    if len(content) > LARGEST:
        mend = f"The request has {len(content):,} bytes; {LARGEST:,} is the most. Send less."
        raise Refused(Refusal("Request exceeds the maximum size", mend, 413))
    try:
        body = json.loads(content.decode("utf-8"), parse_constant=no_number)
        if b"\\u" in content:  # half a surrogate pair is no text
            json.dumps(body, ensure_ascii=False).encode("utf-8")
    except ValueError as error_:
        said = f"The request body is not valid JSON: {reason(error_)}"
        raise Refused(Refusal(said, "The body is no JSON; let a JSON library write it.")) from None
    if not isinstance(body, dict):
        said = "Input should be a valid dictionary"
        raise Refused(Refusal(said, f"The body is no JSON object but {brief(body)}."))
    return body


def reason(fault: Exception) -> str:
    """Why some bytes are no JSON, without the bytes."""
    if isinstance(fault, UnicodeError):
        return "no low surrogate in string" if isinstance(fault, UnicodeEncodeError) else "no UTF-8"
    return str(fault)


def no_number(name: str) -> None:
    """NaN and Infinity are no JSON."""
    raise ValueError(f"{name} is no JSON number")


def error(refusal: Refusal, number: int, headers: Mapping[str, str] | None = None) -> Answer:
    """An error in the API's shape."""
    told: dict[str, Any] = {"type": kind_of(refusal.status), "message": refusal.message}
    if refusal.code:
        told["details"] = {"error_code": refusal.code}
    body = {"type": "error", "error": told, "request_id": request_id(number)}
    return Answer(body, refusal.status, headers or {})


def message(
    content: list[Block], reply: Reply, model: str, number: int, read: int, written: int
) -> Body:
    """A message as it travels; token counts are estimates."""
    return {
        "id": f"msg_{number:02}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": reply.get("stop_reason"),
        "stop_sequence": reply.get("stop_sequence"),
        "stop_details": reply.get("stop_details"),
        "usage": {"input_tokens": read, "output_tokens": written},
    }


def models(name: str, query: str) -> Answer:
    """The models that there are, or one of them."""
    if name:
        if name not in MODELS:
            mend = f"There is no model {name!r}; GET /v1/models lists those that there are."
            raise Refused(Refusal(f"model: {name}", mend, 404))
        return Answer(described(MODELS[name]))
    wanted = parse_qs(query).get("lifecycle[]")
    every = [described(facts) for facts in MODELS.values()]
    data = [model for model in every if not wanted or model["lifecycle"] in wanted]
    first, last = (data[0]["id"], data[-1]["id"]) if data else (None, None)
    return Answer({"data": data, "has_more": False, "first_id": first, "last_id": last})


def described(facts: Facts) -> Body:
    """A model as the list of models tells of it."""
    return {
        "id": facts.name,
        "type": "model",
        "display_name": facts.name.replace("-", " ").title(),
        "created_at": f"{facts.released}T00:00:00Z",
        "lifecycle": "deprecated" if facts.deprecated else "active",
        "deprecated_at": None,
        "retires_at": None,
        "line": facts.line,
        "max_input_tokens": facts.window,
        "max_tokens": facts.longest,
        "capabilities": None,
    }


def request_id(number: int) -> str:
    """The id of a request: its number, so that every run gives the same."""
    return f"req_{number:02}"


def lost_words(answer: Answer) -> str:
    """What the log says of a connection that broke."""
    when = {"before": "before anything was done", "after": "after the reply was made"}
    return f"the connection broke {when[answer.lost]}" if answer.lost else ""

"""The offline Messages API: a request comes in as bytes, an answer goes out, and the log says why.

It obeys the rules that docs/messages_api.md lists. What it says of tokens is an estimate.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile
from threading import RLock
from time import monotonic
from typing import Any
from urllib.parse import parse_qs

from harness_zero.brief import brief, cut
from harness_zero.faults import SetupFault
from harness_zero.messages import Reply
from harness_zero.prefix import MARK
from harness_zero.simulator.cache import Cache, Missed, Prefix, missing
from harness_zero.simulator.catalogue import MODELS, Facts
from harness_zero.simulator.exchange import Answer, Body, Source
from harness_zero.simulator.judge import Judge, characters
from harness_zero.simulator.rule import Asked, Refusal, Rule, Served, kind_of
from harness_zero.simulator.rules import RULES
from harness_zero.simulator.signature import is_thought, signed
from harness_zero.simulator.speech import held, tokens, weight

VERSIONS = ("2023-06-01", "2026-10-21")
LARGEST = 32 * 1024 * 1024  # bytes of a request to /v1/messages
LONGEST = 600  # characters of a message or of a line in the log
LOST = {"before": "before anything was done", "after": "after the reply was made"}
DIAGNOSED = 64  # messages that a request's diagnostics may name
NOT_FOUND = Missed("previous_message_not_found")
STATES = ["active", "deprecated", "retired"]
WARMED = {"content": [], "stop_reason": "max_tokens"}  # what is said where nothing may be said
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
    status: int  # 0 where the connection broke
    words: str = ""  # what is wrong, where, how to mend it
    rule: Rule | None = None  # that the request broke
    fault: SetupFault | None = None  # why there was nothing to answer with

    def __str__(self) -> str:
        status = str(self.status) if self.status else "no answer"
        parts = request_id(self.number), self.what, status, self.words
        return " · ".join(filter(None, parts))


class Refused(Exception):
    """A request gets an error for an answer."""

    def __init__(self, refusal: Refusal, rule: Rule | None = None) -> None:
        self.refusal, self.rule = refusal, rule
        super().__init__(refusal.message)


class Api:
    """An offline Messages API. `source` answers what breaks no rule; `log` tells what happened.

    Requests are answered one after the other, from however many threads they come. What is
    written to the cache grows old by `clock`.
    """

    def __init__(
        self,
        source: Source,
        rules: Sequence[Rule] = RULES,
        version: str = "",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.source, self.version = source, version
        self.clock, self.cache = clock, Cache(clock)
        self.prefixes: deque[tuple[str, Prefix]] = deque(maxlen=DIAGNOSED)
        self.judge, self.served = Judge(rules), Served()
        self.strict = bool(rules)
        self.log: list[Logged] = []
        self.turn = RLock()

    def __call__(self, call: Call) -> Answer:
        """Answer one request; whatever is wrong with it, the answer has the API's shape."""
        with self.turn:
            number, what = len(self.log) + 1, f"{call.method} {cut(call.path, 80)}"
            answer, logged = self.answered(call, Logged(number, what, 0))
            headers = {"request-id": request_id(number), **answer.headers}
            self.log.append(replace(logged, words=cut(logged.words, LONGEST)))
            return replace(answer, headers=headers)

    def answered(self, call: Call, logged: Logged) -> tuple[Answer, Logged]:
        """The answer, and the line for the log."""
        try:
            answer = self.route(call, logged.number)
        except Refused as refused:
            answer, rule = error(refused.refusal, logged.number), refused.rule
            return answer, replace(
                logged, status=answer.status, words=refused.refusal.mend, rule=rule
            )
        except (Exception, SetupFault) as failure:
            fault = failure if isinstance(failure, SetupFault) else None
            words = str(failure) if fault else f"{type(failure).__name__}: {failure}"
            said = words if fault else "Internal server error"
            answer = error(Refusal(said, words, 500), logged.number, NOT_AGAIN)
            words = words if fault else f"what stands behind the API failed: {words}"
            return answer, replace(logged, status=500, words=words, fault=fault)
        if answer.lost:
            return answer, replace(logged, words=f"the connection broke {LOST[answer.lost]}")
        return answer, replace(logged, status=answer.status)

    def line(self, request: str | None) -> Logged | None:
        """What the log says of the request with this id."""
        return next((line for line in self.log if request_id(line.number) == request), None)

    def route(self, call: Call, number: int) -> Answer:
        """Find who answers: the model, the counter of tokens, or the list of models."""
        headers = {name.lower(): value for name, value in call.headers.items()}
        authenticate(headers)
        version = self.version or versioned(headers)
        path = call.path.rstrip("/")
        if path == "/v1/messages":
            demand("POST", call)
            return self.speak(self.asked(call, version), number, headers)
        if path == "/v1/messages/count_tokens":
            demand("POST", call)
            return self.count(self.asked(call, version, counting=True))
        if path == "/v1/models" or path.startswith("/v1/models/"):
            demand("GET", call)
            return models(path.removeprefix("/v1/models").strip("/"), call.query)
        there = "/v1/messages, /v1/messages/count_tokens and /v1/models"
        mend = f"There is no {cut(call.path, 80)} here; there are {there}."
        raise Refused(Refusal("Not Found", mend, 404))

    def asked(self, call: Call, version: str, counting: bool = False) -> Asked:
        """The request as the rules see it, once it has kept them all."""
        body = parsed(call.content)
        name = body.get("model")
        facts = MODELS.get(name, Facts("")) if isinstance(name, str) else Facts("")
        marked = MARK.encode() in call.content
        asked = Asked(body, facts, version, self.served, counting, marked=marked)
        try:
            broken = self.judge.fault(asked) if self.strict else None
        except RecursionError:
            raise Refused(DEEP) from None
        if broken:
            raise Refused(broken[1], broken[0])
        if body.get("stream"):
            mend = "This offline API answers whole replies only; leave out stream."
            raise Refused(Refusal("stream: not supported here", mend))
        return asked

    def speak(self, asked: Asked, number: int, headers: Mapping[str, str]) -> Answer:
        """What the model says to a request that broke no rule."""
        began, read = self.clock(), self.read(asked)
        chain = self.judge.chain(asked)
        warms = self.strict and asked.body["max_tokens"] == 0  # the cache is filled, no more
        given = dict(WARMED) if warms else self.source(asked.body)
        answer = given if isinstance(given, Answer) else Answer(given)
        if answer.lost == "before":
            return answer
        if isinstance(answer.body, dict) and answer.body.get("type") == "error":
            told = {"request_id": request_id(number), **answer.body}
            return replace(answer, body=told)
        if isinstance(given, Answer) and not is_reply(answer.body):
            return answer  # a recording is given back as it stands
        said = self.said(answer, asked, chain)
        written = tokens(sum(map(weight, said["content"])), asked.model)
        model = asked.body.get("model", "")
        whole = message(said, model, number, read, written)
        if self.strict:
            whole |= self.cached(asked, owner(headers, asked.body), began, whole)
        return replace(answer, body=whole)

    def cached(self, asked: Asked, owner: str, began: float, whole: Body) -> Body:
        """The counters of a message by what the cache did, and its diagnostics if asked for."""
        counted = self.cache.serve(asked.body, asked.model, owner, began)
        usage = {"usage": {**whole["usage"], **counted.usage()}}
        now = self.cache.last[owner]
        self.prefixes.append((f"{owner} {whole['id']}", now))
        asks = asked.body.get("diagnostics")
        if asks is None:
            return usage
        before = asks.get("previous_message_id")
        known = dict(self.prefixes).get(f"{owner} {before}")
        found = missing(known, now, counted.read) if known else NOT_FOUND
        told = {"cache_miss_reason": found.reason()} if before and found else None
        return {**usage, "diagnostics": told}

    def said(self, answer: Answer, asked: Asked, chain: str) -> Reply:
        """The reply as it goes out: whole JSON, held to the request, its thoughts signed."""
        if not is_reply(answer.body):
            raise NoReply(f"what stands behind the API gave no reply but {brief(answer.body)}")
        try:
            reply = json.loads(json.dumps(answer.body, allow_nan=False, ensure_ascii=False))
            json.dumps(reply, ensure_ascii=False).encode()
        except (TypeError, ValueError) as fault:
            raise NoReply(
                f"what stands behind the API gave a reply that is no JSON: {fault}"
            ) from None
        reply = held(reply, asked.body, asked.model)
        content = [signed(b, chain) if is_thought(b) else b for b in reply["content"]]
        reply = {**reply, "content": content}
        self.served.remember(reply)
        if not answer.lost and (heard := getattr(self.source, "heard", None)):
            heard(reply)
        return reply

    def read(self, asked: Asked) -> int:
        """About how many tokens the model reads; refused if they do not fit into its window."""
        if not self.strict:
            return tokens(characters(asked.body.get("messages")), asked.model)
        read = tokens(self.judge.size(asked.body), asked.model)
        if read > asked.model.window and not asked.counting:
            said = f"prompt is too long: {read} tokens > {asked.model.window} maximum"
            mend = "The array is longer than the model can read; compact it, or begin a new one."
            raise Refused(Refusal(said, mend))
        return read

    def count(self, asked: Asked) -> Answer:
        """An estimate of what the request holds."""
        return Answer({"input_tokens": self.read(asked)})


class NoReply(SetupFault):
    """What stands behind the API gave something that cannot be sent."""


def is_reply(given: Any) -> bool:
    """Whether this is a reply of ours, which is to become a message of the API."""
    if not isinstance(given, dict) or not isinstance(given.get("content"), list):
        return False
    typed = (isinstance(b, dict) and isinstance(b.get("type"), str) for b in given["content"])
    return given.get("type") != "message" and all(typed)


def authenticate(headers: Mapping[str, str]) -> None:
    """A key in either of the two headers; which one it is does not matter offline."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    if not (headers.get("x-api-key") or (scheme.lower() == "bearer" and bearer.strip())):
        mend = "The request has no key, neither Authorization: Bearer nor x-api-key."
        raise Refused(Refusal("x-api-key header is required", mend, 401))


def owner(headers: Mapping[str, str], body: Body) -> str:
    """Whose cache a request uses: that of its key and of the workspace that it names."""
    key = headers.get("x-api-key") or headers["authorization"].partition(" ")[2].strip()
    return f"{key} {body.get('workspace_id') or ''}"


def versioned(headers: Mapping[str, str]) -> str:
    """The version of the API that a request is written for."""
    version = headers.get("anthropic-version", "")
    if not version:
        raise Refused(Refusal("anthropic-version: header is required", "Send anthropic-version."))
    if version not in VERSIONS:
        mend = f"The header anthropic-version names none of {' and '.join(VERSIONS)}."
        said = "anthropic-version: is not a valid version"
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
    except RecursionError:
        raise Refused(DEEP) from None
    except ValueError as error_:
        said = f"The request body is not valid JSON: {reason(error_)}"
        raise Refused(Refusal(said, "The body is no JSON; let a JSON library write it.")) from None
    if not isinstance(body, dict):
        said = "Input should be a valid dictionary"
        raise Refused(Refusal(said, f"The body is no JSON object but {brief(body)}."))
    return body


def reason(fault: Exception) -> str:
    """Why some bytes are no JSON, without the bytes."""
    if "int_max_str_digits" in str(fault):
        return "a number has too many digits"
    if isinstance(fault, UnicodeError):
        return "no low surrogate in string" if isinstance(fault, UnicodeEncodeError) else "no UTF-8"
    return str(fault)


def no_number(name: str) -> None:
    """NaN and Infinity are no JSON."""
    raise ValueError(f"{name} is no JSON number")


def error(refusal: Refusal, number: int, headers: Mapping[str, str] | None = None) -> Answer:
    """An error in the API's shape."""
    words = cut(refusal.message, LONGEST)
    told: dict[str, Any] = {"type": kind_of(refusal.status), "message": words}
    if refusal.code:
        told["details"] = {"error_code": refusal.code}
    body = {"type": "error", "error": told, "request_id": request_id(number)}
    return Answer(body, refusal.status, headers or {})


def message(reply: Reply, model: str, number: int, read: int, written: int) -> Body:
    """A message as it travels; token counts are estimates."""
    return {
        "id": f"msg_{number:02}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": reply["content"],
        "stop_reason": reply.get("stop_reason"),
        "stop_sequence": reply.get("stop_sequence"),
        "stop_details": reply.get("stop_details"),
        "usage": {"input_tokens": read, "output_tokens": written},
    }


def models(name: str, query: str) -> Answer:
    """The models that there are, or one of them."""
    if name:
        if name not in MODELS:
            mend = f"There is no model {brief(name)}; GET /v1/models lists those that there are."
            raise Refused(Refusal(f"model: {name}", mend, 404))
        return Answer(described(MODELS[name]))
    asked = parse_qs(query)
    wanted, after = asked.get("lifecycle[]", STATES), asked.get("after_id", [""])[0]
    if strange := [state for state in wanted if state not in STATES]:
        said = f"lifecycle: Input should be one of {', '.join(STATES)}"
        raise Refused(Refusal(said, f"There is no state {brief(strange[0])} of a model."))
    every = [described(facts) for facts in MODELS.values()]
    left = [*dropwhile(lambda model: model["id"] != after, every)][1:] if after else every
    fitting = [model for model in left if model["lifecycle"] in wanted]
    limit = asked.get("limit", ["20"])[0]
    data = fitting[: int(limit) if limit.isdecimal() else 20]
    ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {}
    more = len(data) < len(fitting)
    return Answer({"data": data, "has_more": more, "first_id": None, "last_id": None, **ends})


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

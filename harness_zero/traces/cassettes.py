"""Cassettes: the Messages API's HTTP, as other projects' tests have recorded it.

Read are the files of vcr.py (text, `!!binary`, gzip), of pydantic-ai (`parsed_body`), of
Ruby's VCR (`http_interactions`, `!binary`), of go-vcr 2, and dd-trace's single exchanges in
YAML or JSON. YAML never makes an object here: a tag that wants one gives the value under it.
Of the answer's headers those are kept that a client acts on, so that none can hold a secret.
"""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness_zero.brief import brief
from harness_zero.faults import SetupFault

MESSAGES = "/v1/messages"
HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-should-retry", "request-id")
MOST_UNPACKED = 64_000_000  # bytes of one body
MOST_REPEATED = 1_000_000  # values and characters that aliases may say again
LISTS = ("interactions", "http_interactions")


class NoCassette(SetupFault):
    """A file cannot be read as recorded HTTP: which part of it, and what was expected."""


@dataclass(frozen=True)
class Exchange:
    """One request to the API and its answer."""

    method: str
    path: str  # without host and query
    request: dict[str, Any]  # its body; empty if it has none
    status: int
    headers: Mapping[str, str]  # of the answer, the harmless ones
    answer: Any  # its body: JSON; text if it streams or is none
    streams: bool


def exchanges(file: str | Path, path: str = MESSAGES) -> list[Exchange]:
    """The exchanges of a cassette with this path, in the order in which they were recorded.

    Calls of other paths (count_tokens, batches) often share a file, and are left out. NoCassette
    if nothing is left.
    """
    found = [
        exchange(item, f"{file}, interaction {number}", path)
        for number, item in enumerate(interactions(Path(file)), start=1)
    ]
    kept = [each for each in found if isinstance(each, Exchange)]
    if not kept:
        others = ", ".join(f"{n} of {name}" for name, n in Counter(map(str, found)).items())
        raise NoCassette(f"{file} holds no call of {path}, but {others or 'nothing at all'}.")
    return kept


def interactions(file: Path) -> list[Any]:
    """The recorded pairs of request and response in a file, as they stand there."""
    content = parsed(file)
    if isinstance(content, dict):
        for name in LISTS:
            if isinstance(content.get(name), list):
                return content[name]
        if "request" in content and "response" in content:
            return [content]
    wants = f"it has none of {', '.join(LISTS)}, and is no request with its response"
    raise NoCassette(f"{file} is no cassette: {wants}, but {brief(content)}.")


def parsed(file: Path) -> Any:
    """What a file says. JSON is tried first: it is the smaller language, and read faster."""
    try:
        words = file.read_text("utf-8")
    except OSError as error:
        raise NoCassette(f"{file} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise NoCassette(f"{file} is no cassette: it is no text in UTF-8.") from error
    try:
        return json.loads(words)
    except (ValueError, RecursionError):
        return yaml(file, words)


def yaml(file: Path, words: str) -> Any:
    """What YAML says. It is imported here, so that nobody else pays for it."""
    from yaml import YAMLError, load

    try:
        return load(words, loader())
    except (YAMLError, ValueError, TypeError, RecursionError) as error:
        said = " ".join(str(error).split())
        raise NoCassette(f"{file} is neither JSON nor YAML: {said}.") from error


@cache
def loader() -> Any:
    """A safe YAML loader that knows the tags of recorders and makes no objects and no dates."""
    import yaml

    fastest: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(fastest):
        """Never runs what a file names, and makes nothing of aliases that grow without end."""

        def construct_document(self, node: Any) -> Any:
            if said_again(node) > MOST_REPEATED:
                raise yaml.YAMLError(f"its aliases repeat more than {MOST_REPEATED} values")
            return super().construct_document(node)

    def bare(loader: Any, suffix: str, node: Any) -> Any:
        """The value under a tag that is not known; what a class would be applied to, if one."""
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            inner = loader.construct_sequence(node, deep=True)
            return inner[0] if "apply" in suffix and len(inner) == 1 else tuple(inner)
        return loader.construct_scalar(node)

    Loader.add_multi_constructor("!", bare)
    Loader.add_multi_constructor("tag:yaml.org,2002:python/", bare)
    Loader.add_constructor("!binary", Loader.construct_yaml_binary)
    Loader.add_constructor("tag:yaml.org,2002:timestamp", Loader.construct_yaml_str)
    return Loader


def said_again(root: Any) -> int:
    """How many values and characters a YAML file has with its aliases written out, beyond its own.

    A value inside itself counts as nothing there: what is made of it is refused as no JSON.
    """
    sizes: dict[int, int] = {}
    own = 0

    def size(node: Any) -> int:
        nonlocal own
        if id(node) not in sizes:
            sizes[id(node)] = 0
            inner = node.value
            alone = 1 + len(inner) if isinstance(inner, str) else 1
            own += alone
            sizes[id(node)] = alone + sum(map(size, children(inner)))
        return sizes[id(node)]

    return size(root) - own


def children(value: Any) -> Iterator[Any]:
    """The nodes right under a node: of a list the items, of a mapping the keys and the values."""
    if isinstance(value, str):
        return
    for item in value:
        yield from item if isinstance(item, tuple) else (item,)


def exchange(item: Any, where: str, path: str) -> Exchange | str:
    """One interaction as an exchange, or its path if that is another one."""
    request, response = (part(item, name, where) for name in ("request", "response"))
    url = request.get("uri") or request.get("url") or ""
    asked = path_of(str(url))
    if asked != path:
        return asked or "a request without an address"
    body = body_of(request, f"{where}, request") or {}
    if not isinstance(body, dict):
        raise NoCassette(f"{where}, request is no JSON object, but {brief(body)}.")
    headers = harmless(response.get("headers"))
    answer = body_of(response, f"{where}, response")
    streams = bool(body.get("stream")) or is_stream(headers, answer)
    method = str(request.get("method", "POST")).upper()
    return Exchange(method, asked, body, status(response, where), headers, answer, streams)


def path_of(url: str) -> str:
    """The path of an address, or what is wrong with it."""
    try:
        return urlsplit(url).path
    except ValueError:
        return f"an address that is none ({brief(url)})"


def part(item: Any, name: str, where: str) -> dict[str, Any]:
    """The request or the response of an interaction."""
    found = item.get(name) if isinstance(item, dict) else None
    if not isinstance(found, dict):
        raise NoCassette(f"{where} has no {name}, but {brief(item)}.")
    return found


def body_of(side: dict[str, Any], where: str) -> Any:
    """A body: JSON if it is some, else text."""
    if "parsed_body" in side:
        return whole_json(side["parsed_body"], where)
    body = side.get("body")
    if isinstance(body, dict):
        body = body.get("string", body)
    if isinstance(body, bytes):
        body = unpacked(body, where)
    if not isinstance(body, str):
        return whole_json(body, where)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


def whole_json(value: Any, where: str) -> Any:
    """A value from YAML, if JSON can say it too."""
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise NoCassette(f"{where} is no JSON: {error}.") from error


def unpacked(body: bytes, where: str) -> str:
    """Bytes as text, whether or not gzip or deflate packed them."""
    try:
        if body.startswith(b"\x1f\x8b"):
            with gzip.open(BytesIO(body)) as content:
                body = content.read(MOST_UNPACKED + 1)
        elif body[:1] == b"\x78":
            body = inflated(body)
        words = body.decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        packed = "packed in a way that cannot be read here (gzip and deflate can), or damaged"
        raise NoCassette(f"{where} is {packed}: {brief(body, 24)}.") from error
    if len(body) > MOST_UNPACKED:
        raise NoCassette(f"{where} unpacks to more than {MOST_UNPACKED // 1_000_000} MB.")
    return words


def inflated(body: bytes) -> bytes:
    """What deflate packed, up to a byte too many. Bytes that it did not pack stay as they are."""
    packed = zlib.decompressobj()
    try:
        found = packed.decompress(body, MOST_UNPACKED + 1)
    except zlib.error:  # text that begins with an x
        return body
    return found if packed.eof or len(found) > MOST_UNPACKED else body


def is_stream(headers: Mapping[str, str], answer: Any) -> bool:
    """Whether this answer came as events."""
    kind = headers.get("content-type", "")
    return "event-stream" in kind or (isinstance(answer, str) and answer.startswith("event:"))


def harmless(headers: Any) -> dict[str, str]:
    """Those of an answer's headers that a client acts on, by their names in small letters."""
    given = headers.items() if isinstance(headers, dict) else ()
    named = {str(name).lower(): value for name, value in given}
    return {name: first(named[name]) for name in HEADERS if named.get(name) not in (None, [], "")}


def first(value: Any) -> str:
    """A header's value, or the first of several."""
    one = value[0] if isinstance(value, list | tuple) else value
    return one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one)


def status(response: dict[str, Any], where: str) -> int:
    """The status of an answer, under any of the names that recorders give it."""
    found = response.get("status")
    code = found.get("code") if isinstance(found, dict) else response.get("code", found)
    try:
        number = int(str(code))
    except ValueError:
        number = 0
    if not 100 <= number <= 599:
        raise NoCassette(f"{where}, response has no status, but {brief(found)}.")
    return number

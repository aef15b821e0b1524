"""What code may do by mistake to the program that tries it: wait for keys, end it, patch Python.

`contained` is for the time in which that code is at work. What is patched for good is found
by `patched`, which compares with how Python was when this module was first imported.
"""

import builtins
import dis
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any, NoReturn

from harness_zero import messages
from harness_zero.faults import SetupFault

NOT_OURS = {"input", "exit", "quit", "help", "copyright", "credits", "license", "display", "_"}
SHIPPED = {
    name: value
    for name, value in vars(builtins).items()
    if callable(value) and name not in NOT_OURS and not name.startswith("_")
}


class AskedForKeys(SetupFault):
    """The code waits for somebody to type."""


class AskedToEnd(SetupFault):
    """The code would end the program that it runs in."""


def refuse_input(*_: Any, **__: Any) -> NoReturn:
    """What `input` does meanwhile."""
    raise AskedForKeys("input() waits for somebody to type; a harness asks the model instead")


def refuse_exit(*_: Any, **__: Any) -> NoReturn:
    """What `exit` and `quit` do meanwhile, and a notebook's own."""
    raise AskedToEnd("exit() ends the whole program; a function ends with return")


PRINTED = 200  # characters of what is printed meanwhile that are kept


class Hush(io.TextIOBase):
    """Somewhere to print to; the beginning is kept, however much it is."""

    text = ""

    def write(self, text: str) -> int:
        self.text += text[: PRINTED - len(self.text)] if len(self.text) < PRINTED else ""
        return len(text)


DEEPEST = 5_000  # calls inside each other; who needs more calls itself for ever


@contextmanager
def shallow() -> Iterator[None]:
    """Meanwhile no limit of recursion above DEEPEST holds; afterwards the limit is as it was."""
    limit, set_limit = sys.getrecursionlimit(), sys.setrecursionlimit
    set_limit(min(limit, DEEPEST))
    sys.setrecursionlimit = lambda asked: set_limit(min(asked, DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit = set_limit
        set_limit(limit)


@contextmanager
def contained() -> Iterator[None]:
    """Meanwhile `input()` and `exit()` raise; afterwards Python's builtins are as they were."""
    with shallow(), no_keys_no_end():
        yield


@contextmanager
def no_keys_no_end() -> Iterator[None]:
    """Meanwhile `input()` and `exit()` raise, and builtins can be replaced only until the end."""
    before = dict(vars(builtins))
    vars(builtins).update(input=refuse_input, exit=refuse_exit, quit=refuse_exit)
    shell = notebook_shell()
    own = dict(vars(shell)) if shell else {}
    if shell:
        shell.ask_exit = refuse_exit
    try:
        yield
    finally:
        vars(builtins).update(before)
        for name in [*vars(builtins)]:
            if name not in before:
                del vars(builtins)[name]
        if shell and "ask_exit" in own:  # contained in another one
            shell.ask_exit = own["ask_exit"]
        elif shell:
            del shell.ask_exit


def notebook_shell() -> Any:
    """The shell of the notebook that this runs in, or None; nothing is imported for it."""
    shell = sys.modules.get("IPython.core.interactiveshell")
    kind = shell and shell.InteractiveShell
    return kind.instance() if kind and kind.initialized() else None


def patched() -> list[str]:
    """The builtins that somebody replaced; they are put back."""
    names = [name for name, value in SHIPPED.items() if vars(builtins).get(name) is not value]
    vars(builtins).update({name: SHIPPED[name] for name in names})
    return names


def hidden(function: Any) -> list[str]:
    """The builtins that a function means and does not get: names of the notebook hide them."""
    return [name for name, value in means(function).items() if name in SHIPPED and is_own(value)]


def hidden_ours(function: Any) -> list[str]:
    """The course's helpers that a function means and does not get, for the same reason."""
    used = means(function).items()
    return [name for name, value in used if hasattr(messages, name) and not callable(value)]


def means(function: Any) -> dict[str, Any]:
    """The global names that a function uses, and what they stand for; None: for nothing."""
    known = getattr(function, "__globals__", None)
    code = getattr(function, "__code__", None)
    if not isinstance(known, dict) or not isinstance(code, CodeType):
        return {}
    return {name: known.get(name) for name in names_in(code)}


LOADED = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}  # attributes are not


def names_in(code: CodeType) -> list[str]:
    """The global names that some code reads, also inside the functions it makes."""
    own = [each.argval for each in dis.get_instructions(code) if each.opname in LOADED]
    inner = [names_in(each) for each in code.co_consts if isinstance(each, CodeType)]
    return list(dict.fromkeys([*own, *(name for names in inner for name in names)]))


def is_own(value: Any) -> bool:
    """Whether a value is the learner's: a notebook has an `open` of its own."""
    made_in = str(getattr(value, "__module__", None) or type(value).__module__)
    return value is not None and not made_in.startswith(("IPython", "ipykernel"))

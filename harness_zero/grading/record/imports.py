"""What a learner's cell can import here, and the sentence for what it cannot."""

import sys
import types
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, NoReturn

NOT_THERE = "{} is not there when your work is graded: write what you need of it in your cell"


def not_there(what: str) -> ModuleNotFoundError:
    """What is raised where a cell imports what is not there."""
    return ModuleNotFoundError(NOT_THERE.format(what))


class Facade(types.ModuleType):
    """A module of which some names can be imported; what is asked for besides is not there."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise not_there(f"{name} of {self.__name__}")


class Stand(Facade):
    """A module that is not here: the names that a lab's own cells import from it do nothing."""

    def __init__(self, name: str, names: Iterable[str] | None) -> None:
        super().__init__(name)
        self.__path__: list[str] = []  # a package, in which nothing is found
        self.__names = names  # None: any name

    def __getattr__(self, name: str) -> Any:
        if self.__names is None or name in self.__names:
            return super().__getattr__(name) if name.startswith("__") else nothing
        return super().__getattr__(name)


def nothing(*args: Any, **named: Any) -> None:
    """What shows or checks something in a notebook, and nothing here."""


class Others:
    """Asked last for a module: it is not there; of Python's own some are missing anywhere."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] not in sys.stdlib_module_names:
            raise not_there(name)


def show(settings: Mapping[str, Any]) -> None:
    """Have cells import what the settings say; those who need more have it already."""
    for module, names in settings["shown"].items():
        show_only(module, names)
    for module, names in settings["hidden"].items():
        show_only(module, [name for name in vars(import_module(module)) if name not in names])
    for module, names in settings["absent"].items():
        stand_in(module, names)


def show_only(module: str, names: Iterable[str]) -> None:
    """Have these names of a module be all that can be imported from it."""
    whole, facade = import_module(module), Facade(module)
    vars(facade).update({name: getattr(whole, name) for name in names if hasattr(whole, name)})
    put(module, facade)


def stand_in(module: str, names: Iterable[str] | None) -> None:
    """Have a module do nothing, and those above it that are not here either."""
    parts = module.split(".")
    for most in range(1 + (parts[0] == "harness_zero"), len(parts)):
        above = ".".join(parts[:most])
        if above not in sys.modules:
            put(above, Stand(above, ()))
    if module not in sys.modules:
        put(module, Stand(module, names))


def put(module: str, instead: types.ModuleType) -> None:
    """Have a module be this one, also as a part of its package."""
    sys.modules[module] = instead
    package, _, last = module.rpartition(".")
    if package:
        setattr(sys.modules[package], last, instead)


def refuse_input(*_: Any, **__: Any) -> NoReturn:
    """What `input` does: it fails as where nobody types, in the words of the notebook's check."""
    raise EOFError("input() waits for somebody to type; a harness asks the model instead")


def refuse_exit(*_: Any, **__: Any) -> NoReturn:
    """What `exit` and `quit` do, which Python has where somebody sits before it."""
    raise SystemExit("exit() ends the whole program; a function ends with return")


def refuse_others() -> None:
    """From now on say of whatever else is imported that it is not there."""
    sys.meta_path.append(Others)

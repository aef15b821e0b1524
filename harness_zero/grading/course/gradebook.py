"""nbgrader's gradebook, opened with care: what it cannot write into is left as it is."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

OF_EVERY_ONE = {"alembic_version", "assignment", "grade", "student"}  # its tables


class Unusable(Exception):
    """This gradebook cannot be used; the sentence says why, and what to do."""


@contextmanager
def opened(directory: Any, new: bool = False) -> Iterator[Any]:
    """The gradebook of a course directory; only a new one may be made."""
    from nbgrader.api import Gradebook, InvalidEntry
    from sqlalchemy.exc import DatabaseError

    refuse_unfit(directory.db_url, new)
    # what nbgrader logs of a fault of the database is told in a sentence here
    logging.getLogger("tornado.application").addHandler(logging.NullHandler())
    try:
        with tools_on_path(), Gradebook(directory.db_url, directory.course_id) as book:
            yield book
    except (DatabaseError, InvalidEntry) as fault:
        raise Unusable(in_words(fault, place(directory.db_url))) from fault


@contextmanager
def tools_on_path() -> Iterator[None]:
    """alembic is where this Python is; nbgrader calls it by its name to make a gradebook."""
    before = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def refuse_unfit(url: str, new: bool = False) -> None:
    """Say in a sentence why a gradebook cannot be used, before anything is written into it."""
    from sqlalchemy import create_engine, inspect, text
    from sqlalchemy.exc import DatabaseError

    where, file = place(url), file_of(url)
    if file and not file.exists():
        if new:
            return
        raise Unusable(f"There is no {where}: `harness-zero course` makes one.")
    engine = create_engine(url)
    try:
        tables = {*inspect(engine).get_table_names()}
        if tables and not tables >= OF_EVERY_ONE:
            raise Unusable(f"{where} is a database of something else. Move it away.")
        if tables:
            with engine.connect() as connection:
                found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
            refuse_version(str(found), where)
    except DatabaseError as fault:
        raise Unusable(in_words(fault, where)) from fault
    finally:
        engine.dispose()


def refuse_version(found: str, where: str) -> None:
    """Say that a gradebook is of an older or a newer nbgrader than the one that is here."""
    from alembic.script import ScriptDirectory
    from nbgrader import __version__
    from nbgrader.dbutil import ALEMBIC_DIR

    scripts = ScriptDirectory(ALEMBIC_DIR)
    if found == scripts.get_current_head():
        return
    if found in {each.revision for each in scripts.walk_revisions()}:
        cure = "Keep a copy of it, then type `nbgrader db upgrade` in its folder."
        raise Unusable(f"{where} is of an older nbgrader than the {__version__} here. {cure}")
    cure = "Install the nbgrader that made it."
    raise Unusable(f"{where} is of a newer nbgrader than the {__version__} here. {cure}")


def in_words(fault: Exception, where: str) -> str:
    """What a database says, as a sentence that tells what to do."""
    said = str(getattr(fault, "orig", fault))
    if "locked" in said:
        return f"{where} is locked by another program. Close that, and type it again."
    if "not a database" in said:
        return f"{where} is no database. Move it away, or bring your copy of it back."
    return f"{where} cannot be used ({said})."


def place(url: str) -> str:
    """A gradebook by the name of its file, or without its password."""
    file = file_of(url)
    return str(file) if file else url.rpartition("@")[2]


def file_of(url: str) -> Path | None:
    """The file of a gradebook, if it is one."""
    return Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite:///") else None

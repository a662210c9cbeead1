"""Exceptions. Their text is that of the program: what is wrong, where, and what to do."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One problem of a deck, a structure file or an argument.

    Lines and columns count from 1; 0 stands for the whole file.
    """

    file: str
    line: int
    column: int
    key: str  #: "section.key" or "section" of a deck; empty if unknown
    message: str
    advice: str  #: the part of the message that says what to do; may be empty


class TarnError(Exception):
    """Base class of all errors of tarn.

    Attributes
    ----------
    problems : tuple of Problem
        All problems that were found; empty if the error has no place in a file.
    """

    def __init__(self, message: str, problems: Iterable[tuple[str, int, int, str, str, str]] = ()):
        super().__init__(message)
        self.problems = tuple(Problem(*problem) for problem in problems)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = [tuple(vars(problem).values()) for problem in self.problems]
        return type(self), (str(self), fields)


class InputError(TarnError, ValueError):
    """An invalid argument, structure file or folder."""


class DeckError(InputError):
    """An invalid deck, with all its problems."""


class TarnWarning(UserWarning):
    """A result that asks for an action, such as a longer run. Its text is that of the program."""


class NumericalError(TarnError, ArithmeticError):
    """A simulation blew up, or an iteration did not converge."""


class FileError(TarnError, OSError):
    """A file cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that does not exist."""


@contextmanager
def reading(*paths: str) -> Iterator[None]:
    """Errors of reading files of which one does not exist become MissingFileError."""
    try:
        yield
    except FileError as error:
        if all(map(os.path.lexists, paths)):
            raise
        raise MissingFileError(str(error)) from None


class DeviceError(TarnError, RuntimeError):
    """A requested device cannot be used."""

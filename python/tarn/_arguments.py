"""Checks of arguments; the errors name the function and the argument."""

from __future__ import annotations

import numbers
import operator
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from tarn._errors import InputError


def integer(
    function: str, name: str, value: Any, least: int = -(2**31), most: int = 2**31 - 1
) -> int:
    """An integer, such as 3 or numpy.int64(3), but not 3.0 or True."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{function}: {name} = {value!r}; expected an integer") from None
    if number < least:
        raise InputError(f"{function}: {name} = {number}; expected {least} or more")
    if number > most:
        raise InputError(f"{function}: {name} = {number}; expected at most {most}")
    return number


def texts(function: str, name: str, value: Any) -> list[str]:
    """Several names; a single str is one name."""
    names = many(value)
    if not all(isinstance(one, str) for one in names):
        raise InputError(f"{function}: {name} = {value!r}; expected a name or a list of names")
    return [text(function, name, one) for one in names]


def many(value: Any) -> list[Any]:
    """The values of a list or another iterable; a single value is one of them."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        try:
            return list(value)
        except TypeError:  # numpy.array(3)
            pass
    return [value]


def real(function: str, name: str, value: Any) -> float:
    """A number, but not a str or a bool."""
    try:
        if isinstance(value, str | bytes | bytearray | bool | np.bool_):
            raise TypeError
        if not isinstance(value, numbers.Real):  # such as numpy.array(0.5)
            value = operator.methodcaller("__float__")(value)
        return float(value)
    except (AttributeError, OverflowError, TypeError, ValueError):
        raise InputError(f"{function}: {name} = {value!r}; expected a number") from None


def flag(function: str, name: str, value: Any) -> bool:
    """True or False, but not "no", which is true for Python."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise InputError(f"{function}: {name} = {value!r}; expected True or False")


def device_and_threads(function: str, device: Any, threads: Any) -> dict[str, Any]:
    """The options `device` and `threads`; None: those of the deck."""
    return {
        "device": None if device is None else text(function, "device", device),
        "threads": None if threads is None else integer(function, "threads", threads),
    }


def text(function: str, name: str, value: Any) -> str:
    """A str that UTF-8 can have, without the character 0."""
    if not isinstance(value, str):
        raise InputError(f"{function}: {name} = {value!r}; expected a str")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{function}: {name} = {value!r}; expected valid Unicode") from None
    if "\0" in value:
        raise InputError(f"{function}: {name} = {value!r} contains the character 0")
    return str(value)


def path(function: str, name: str, value: Any) -> str:
    """A path as a str, from a str, bytes or os.PathLike."""
    if not isinstance(value, str | bytes | os.PathLike):
        raise InputError(f"{function}: {name} = {value!r}; expected a path")
    found = text(function, name, os.fsdecode(value))
    if not found:
        raise InputError(f"{function}: {name} is empty; expected a path")
    return found

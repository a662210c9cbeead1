"""Checks of arguments; the errors name the function and the argument."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import Any

from tarn._errors import InputError


def integer(
    function: str, name: str, value: Any, least: int = -(2**31), most: int = 2**31 - 1
) -> int:
    """An integer, such as 3 or numpy.int64(3), but not 3.0."""
    try:
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
    if isinstance(value, str):
        return [value]
    names: list[Any] = list(value) if isinstance(value, Iterable) else [None]
    if not all(isinstance(one, str) for one in names):
        raise InputError(f"{function}: {name} = {value!r}; expected a name or a list of names")
    return names


def many(value: Any) -> list[Any]:
    """The values of a list or another iterable; a single value is one of them."""
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def real(function: str, name: str, value: Any) -> float:
    """A number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{function}: {name} = {value!r}; expected a number") from None


def device_and_threads(function: str, device: Any, threads: Any) -> dict[str, Any]:
    """The options `device` and `threads`; None: those of the deck."""
    return {
        "device": None if device is None else text(function, "device", device),
        "threads": None if threads is None else integer(function, "threads", threads),
    }


def text(function: str, name: str, value: Any) -> str:
    """A str, or a path as a str."""
    if isinstance(value, str | os.PathLike):
        return os.fspath(value)
    raise InputError(f"{function}: {name} = {value!r}; expected a str")

"""Decks: paths, or dictionaries with the sections of a deck."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tarn import _arguments, _tarn
from tarn._errors import DeckError, InputError, reading

DeckLike = str | os.PathLike[str] | Mapping[str, Any]

#: Keys of [run] with the length of the run.
LENGTHS = ("steps", "duration_ps", "duration")

#: Name of a deck that is a dictionary.
DICTIONARY = "deck"


def _quoted(text: str) -> str:
    """A text as TOML."""
    escapes = {'"': '\\"', "\\": "\\\\"}
    written = (escapes.get(c, c if c.isprintable() else f"\\U{ord(c):08x}") for c in text)
    return '"' + "".join(written) + '"'


def _key(name: Any) -> str:
    """A key or the name of a section as TOML."""
    if not isinstance(name, str):
        raise InputError(f"{DICTIONARY}: the key {name!r} is not a str")
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _text(key: str, value: Any, inline: bool = False) -> str:
    """A value as TOML. `key` is "section.key", for errors; `inline`: a dictionary is a section."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(int(value) if isinstance(value, int) else float(value))
    if isinstance(value, str | os.PathLike):
        return _quoted(_arguments.text("deck", key, os.fsdecode(value)))
    if inline and isinstance(value, Mapping):
        items = (f"{_key(k)} = {_text(f'{key}.{k}', one, True)}" for k, one in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_text(key, one) for one in value) + "]"
    message = f"{key} = {value!r} is not a number, text, bool or list of these"
    advice = "to use the default, leave out the key" if value is None else ""
    text = f"{DICTIONARY}: {message}" + (f"; {advice}" if advice else "")
    raise DeckError(text, [(DICTIONARY, 0, 0, key, message, advice)])


def _lines(section: str, keys: Mapping[str, Any]) -> Iterator[str]:
    parts = {key: value for key, value in keys.items() if isinstance(value, Mapping)}
    if section and (len(parts) < len(keys) or not keys):
        yield f"[{section}]"
    for key, value in keys.items():
        if key not in parts:
            yield f"{_key(key)} = {_text(f'{section}.{key}' if section else key, value)}"
    for key, value in parts.items():
        yield from _lines(f"{section}.{_key(key)}" if section else _key(key), value)


def text_of(deck: Mapping[str, Any]) -> str:
    """The TOML text of a deck that is a dictionary."""
    return "\n".join(_lines("", deck)) + "\n"


def changes(set: Mapping[str, Any] | None) -> list[str]:
    """Changes as in `--set`: {"run.steps": 1000, "observe.final": {}}."""
    if not isinstance(set, Mapping | None):
        raise InputError(f'deck: set = {set!r}; expected a dictionary such as {{"run.steps": 1000}}')
    return [f"{key}={_text(key, value, True)}" for key, value in (set or {}).items()]


def load(
    deck: DeckLike,
    set: Mapping[str, Any] | None = None,
    unset: str | Sequence[str] = (),
    needs_length: bool = True,
    has_potential: bool = False,
) -> _tarn.Deck:
    """Reads and checks a deck.

    Parameters
    ----------
    needs_length : bool
        If False, the deck may leave out the length of the run.
    has_potential : bool
        If True, defaults and rules are those with a potential of the program.
    """
    if isinstance(deck, Mapping):
        text, path = text_of(deck), DICTIONARY
    else:
        if not isinstance(deck, str | bytes | os.PathLike):
            raise InputError(
                f"deck = {deck!r}; expected a path, or a dictionary with the sections of a deck"
            )
        path = _arguments.path("deck", "path", deck)
        with reading(path):
            text = _tarn.read_deck_text(path)
    given = changes(set)
    is_set = any(change.startswith(f"run.{key}=") for change in given for key in LENGTHS)
    sections = deck if isinstance(deck, Mapping) else text
    run = _section(sections, "run")
    if not (needs_length or is_set or run is None or any(key in run for key in LENGTHS)):
        given.insert(0, "run.steps=0")
    if has_potential:
        given.insert(0, 'potential.kind="program"')
    return _tarn.load_deck(text, path, given, _arguments.texts("deck", "unset", unset))


def _section(deck: str | Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """A section of a deck, empty if there is none; None if the deck or the section is invalid."""
    if isinstance(deck, str):
        try:
            deck = tomllib.loads(deck)
        except tomllib.TOMLDecodeError:
            return None
    section = deck.get(name, {})
    return section if isinstance(section, Mapping) else None

"""Decks: paths, or dictionaries with the sections of a deck."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tarn import _tarn
from tarn._errors import DeckError

DeckLike = str | os.PathLike[str] | Mapping[str, Any]

#: Name of a deck that is a dictionary.
DICTIONARY = "deck"


def _text(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str | os.PathLike):
        text = os.fspath(value).replace("\\", "\\\\").replace('"', '\\"')
        return '"' + text.replace("\n", "\\n").replace("\t", "\\t") + '"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_text, value)) + "]"
    raise DeckError(f"{DICTIONARY}: {value!r} is not a number, text, bool or list of these")


def _lines(section: str, keys: Mapping[str, Any]) -> Iterator[str]:
    parts = {key: value for key, value in keys.items() if isinstance(value, Mapping)}
    if section and (len(parts) < len(keys) or not keys):
        yield f"[{section}]"
    for key, value in keys.items():
        if key not in parts:
            yield f"{key} = {_text(value)}"
    for key, value in parts.items():
        yield from _lines(f"{section}.{key}" if section else key, value)


def text_of(deck: Mapping[str, Any]) -> str:
    """The TOML text of a deck that is a dictionary."""
    return "\n".join(_lines("", deck)) + "\n"


def changes(set: Mapping[str, Any] | None) -> list[str]:
    """Changes as in `--set`: {"run.steps": 1000}."""
    return [f"{key}={_text(value)}" for key, value in (set or {}).items()]


def load(
    deck: DeckLike,
    set: Mapping[str, Any] | None = None,
    unset: Sequence[str] = (),
    needs_length: bool = True,
) -> _tarn.Deck:
    """Reads and checks a deck.

    Parameters
    ----------
    needs_length : bool
        If False, a dictionary may leave out the length of the run.
    """
    if isinstance(deck, Mapping):
        length = deck.get("run", {})
        if not needs_length and not {"steps", "duration_ps", "duration"} & length.keys():
            deck = {**deck, "run": {**length, "steps": 0}}
        text, path = text_of(deck), DICTIONARY
    else:
        path = os.fspath(deck)
        text = _tarn.read_deck_text(path)
    return _tarn.load_deck(text, path, changes(set), list(unset))

"""Changes of a file's bytes, drawn by seeded dice: blind ones, and ones that know what a file is made of."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

__all__ = ["BLIND", "mutate"]

TOKENS = (
    "nan", "inf", "-inf", "1e999", "-1", "0", "", "x", "1_0", "0x1", "١", "é", "\0", "[", "}", '"', ",", " ",
    "\n", "\r", "\t", "\x1b[2J", "\x7f", "\u202e", "\ufeff", "../../evil", "/etc/passwd", "%s%n", "9" * 400,
    "null", "true", "{}", "[[[[", "1e308", "4294967296", "-9223372036854775808", "18446744073709551616",
)  # fmt: skip
"""Words that readers stumble over."""

VALUES: tuple[Any, ...] = (
    None, True, "", "x", "\x1b[31m", "é" * 50, -1, 0, 1, 2**31, 2**63, 10**400, 1e308, -0.5, 1e-320,
    [], {}, [[]], [None], [1, "a"], {"a": {}}, "9" * 500, "../../x", [0] * 1000, 3.5, "nan",
)  # fmt: skip
"""JSON values that stand where others are expected."""

PICKLES = (
    b"cos\nsystem\n(S'touch PWNED'\ntR", b"\x8c\x02os\x8c\x06system\x93\x8c\x05touch\x85R",
    b"c__builtin__\neval\n(S'open(\"PWNED\",\"w\")'\ntR", b"(", b"N", b"]", b"}", b"0", b"2", b"\x94", b"e",
    b"u", b"s", b"R", b"b", b"o", b"i", b"\x81", b"\x92", b"h\xff", b"j\xff\xff\xff\xff", b"\x95\xff\xff\xff",
    b"B\xff\xff\xff\x7f", b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x8a\xff", b"\x97", b"\x98", b".",
)  # fmt: skip
"""Opcodes: two that would run a program, others that ask for memory or leave the stack in disorder."""


def _place(data: bytes, dice: Random) -> int:
    return dice.randrange(len(data) + 1)


def _flip(data: bytes, dice: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 8, 64))):
        if changed:
            changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _overwrite(data: bytes, dice: Random) -> bytes:
    at, new = _place(data, dice), dice.randbytes(dice.choice((1, 2, 4, 8, 40)))
    new = dice.choice((new, b"\xff" * len(new), bytes(len(new))))
    return data[:at] + new + data[at + len(new) :]


def _insert(data: bytes, dice: Random) -> bytes:
    at = _place(data, dice)
    return data[:at] + dice.randbytes(dice.choice((1, 3, 20, 300))) + data[at:]


def _token(data: bytes, dice: Random) -> bytes:
    at, end = _place(data, dice), dice.choice((0, 0, 1, 4))
    return data[:at] + dice.choice(TOKENS).encode() + data[at + end :]


def _cut(data: bytes, dice: Random) -> bytes:
    return data[: _place(data, dice)]


def _remove(data: bytes, dice: Random) -> bytes:
    at = _place(data, dice)
    return data[:at] + data[at + dice.choice((1, 2, 5, 50, 1000)) :]


def _double(data: bytes, dice: Random) -> bytes:
    at, length = _place(data, dice), dice.choice((1, 4, 30, 400))
    return data[:at] + data[at : at + length] * dice.choice((2, 3, 50)) + data[at:]


def _swap(data: bytes, dice: Random) -> bytes:
    a, b, c = sorted(_place(data, dice) for _ in range(3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def _field(data: bytes, dice: Random) -> bytes:
    """One field of a text is another word, or gone."""
    marks = [m for m in (b",", b" ", b"\n", b"\t", b":") if m in data]
    if not marks:
        return _token(data, dice)
    mark = dice.choice(marks)
    fields = data.split(mark)
    at = dice.randrange(len(fields))
    word = dice.choice(TOKENS).encode()
    fields[at : at + 1] = dice.choice(([], [word], [fields[at], fields[at]], [word, word]))
    return mark.join(fields)


def _encode(data: bytes, dice: Random) -> bytes:
    return data.decode("latin-1").encode(dice.choice(("utf-16", "utf-16-le", "utf-32", "utf-8-sig")))


def _all(data: bytes, dice: Random) -> bytes:
    return dice.choice((b"", dice.randbytes(200), data + data, data[::-1], b"\0" * 1000, data[:1] * 5000))


def _deep(data: bytes, dice: Random) -> bytes:
    at, mark = _place(data, dice), dice.choice((b"[", b'{"a":', b"(", b"[["))
    return data[:at] + mark * dice.choice((200, 2_000, 100_000)) + data[at:]


def _opcode(data: bytes, dice: Random) -> bytes:
    at = _place(data, dice)
    return data[:at] + dice.choice(PICKLES) + data[at + dice.choice((0, 0, 1)) :]


BLIND: Sequence[Callable[[bytes, Random], bytes]] = (
    _flip, _overwrite, _insert, _token, _cut, _remove, _double, _swap, _field, _encode, _deep, _all,
)  # fmt: skip


def _change_value(value: Any, dice: Random) -> Any:
    """One value somewhere in nested lists and objects is another, missing, doubled or renamed."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(sorted(value))
        what = dice.random()
        if what < 0.12:
            return {k: v for k, v in value.items() if k != key}
        if what < 0.2:
            return {(dice.choice(TOKENS) if k == key else k): v for k, v in value.items()}
        return {**value, key: _change_value(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.85:
        at, what = dice.randrange(len(value)), dice.random()
        if what < 0.1:
            return value[:at] + value[at + 1 :]
        if what < 0.2:
            return value[:at] + [value[at]] * dice.choice((2, 30)) + value[at:]
        return [*value[:at], _change_value(value[at], dice), *value[at + 1 :]]
    return dice.choice(VALUES)


def _json(data: bytes, dice: Random) -> bytes | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        lines = data.splitlines()
        at = dice.randrange(len(lines)) if lines else 0
        try:  # a line of JSON
            lines[at] = json.dumps(_change_value(json.loads(lines[at]), dice)).encode()
        except (ValueError, IndexError, RecursionError):
            return None
        return b"\n".join(lines) + b"\n"
    return json.dumps(_change_value(value, dice)).encode() if isinstance(value, dict | list) else None


def _safetensors(data: bytes, dice: Random) -> bytes | None:
    """Another header before the same tensors; its texts may be JSON themselves."""
    if len(data) < 10 or (length := struct.unpack("<Q", data[:8])[0]) > len(data) - 8:
        return None
    try:
        header = json.loads(data[8 : 8 + length])
    except ValueError:
        return None
    texts = header.get("__metadata__", {}) if isinstance(header, dict) else {}
    texts = texts if isinstance(texts, dict) else {}
    nested = [k for k, v in texts.items() if isinstance(v, str) and v[:1] in ("{", "[")]
    if nested and dice.random() < 0.7:
        key = dice.choice(nested)
        texts[key] = _changed_text(texts[key], dice)
    else:
        header = _change_value(header, dice)
    made = json.dumps(header).encode()
    return struct.pack("<Q", len(made)) + made + data[8 + length :]


def _changed_text(text: str, dice: Random) -> str:
    if dice.random() < 0.1:
        return dice.choice(("[", '{"list":', '{"a":')) * 100_000
    try:
        return json.dumps(_change_value(json.loads(text), dice))
    except (ValueError, RecursionError):
        return dice.choice(TOKENS)


def _zip(data: bytes, dice: Random) -> bytes | None:
    """One member of an archive changed, the archive itself whole."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # it was changed before
        return None
    if not members:
        return None
    name, made = dice.choice(sorted(members)), io.BytesIO()
    what = dice.random()
    if what < 0.1:
        del members[name]
    else:
        members[name] = dice.choice(BLIND)(members[name], dice)
    with zipfile.ZipFile(made, "w", dice.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for key, content in members.items():
            archive.writestr(f"../{key}" if key == name and what > 0.95 else key, content)
    return made.getvalue()


def mutate(data: bytes, suffix: str, dice: Random) -> bytes:
    """``data`` changed once to three times; half of the changes know the format by its ``suffix``."""
    knowing = {".json": _json, ".jsonl": _json, ".safetensors": _safetensors, ".npz": _zip}.get(suffix)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        made = knowing(data, dice) if knowing and dice.random() < 0.6 else None
        if made is None and suffix == ".pkl" and dice.random() < 0.6:
            made = _opcode(data, dice)
        data = dice.choice(BLIND)(data, dice) if made is None else made
    return data

"""A pickle reader that builds plain values and numeric arrays and nothing else.

A pickle is a program. Here it runs with only the opcodes that plain values need, and with stand-ins for the
few functions by which numpy stores arrays: numpy itself is never handed foreign state (a crafted ``dtype``
makes it take raw bytes for objects), and no other name can be looked up. It derives from Python's own
unpickler rather than the C one, whose memo takes any amount of memory at the wish of a single opcode.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from typing import Any, BinaryIO, ClassVar

from bandstop.skeleton.limits import RAISE, allowed
from bandstop.skeleton.readers.stored_array import STAND_INS, Dtype, RefusedError, StoredArray

__all__ = ["unpickle"]

_OPCODES = """
    PROTO STOP FRAME MARK POP POP_MARK NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 LONG4
    FLOAT BINFLOAT STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 UNICODE BINUNICODE
    SHORT_BINUNICODE BINUNICODE8 TUPLE EMPTY_TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_LIST LIST APPEND APPENDS
    EMPTY_DICT GET BINGET LONG_BINGET PUT BINPUT LONG_BINPUT MEMOIZE GLOBAL STACK_GLOBAL
"""

_BYTES_A_STEP, _MOST_AHEAD, _STEPS_AT_ONCE, _MOST_MARKS = 24, 600_000, 1024, 1000


def unpickle(stream: BinaryIO) -> Any:
    """The value of a pickle made of plain values and numeric arrays (:class:`StoredArray`, or numpy's own).

    >>> import io
    >>> import numpy as np
    >>> unpickle(io.BytesIO(pickle.dumps({"keypoint": np.ones((1, 2), np.float16)})))["keypoint"].value
    array([[1., 1.]], dtype=float16)
    >>> unpickle(io.BytesIO(pickle.dumps(len)))
    Traceback (most recent call last):
        ...
    bandstop.skeleton.readers.stored_array.RefusedError: builtins.len is not allowed in a data file
    """
    return _Unpickler(_Bounded(stream)).load()


class _Allowance:
    """How many steps a pickle may still take: arrays are bytes, so steps without bytes are no data.

    Every byte that is read allows ``1 / _BYTES_A_STEP`` steps; at most ``_MOST_AHEAD`` are saved up, so that
    a large array does not pay for a long row of marks after it.
    """

    def __init__(self, stream: _Bounded) -> None:
        self.stream, self.most, self.read = stream, allowed(_MOST_AHEAD), 0
        self.left = self.most

    def take(self, steps: int) -> None:
        place = self.stream.tell()
        self.left = min(self.most, self.left + (place - self.read) // _BYTES_A_STEP) - steps
        self.read = place
        if self.left < 0:
            raise RefusedError(f"too many steps for its size; {RAISE}")


class _Bounded:
    """A stream that is never asked for more than it has: Python makes room for all that is asked, first."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.size = stream.seek(0, 2)
        stream.seek(0)

    def read(self, size: int) -> bytes:
        return self.stream.read(min(size, self.size))

    def readline(self) -> bytes:
        return self.stream.readline()

    def tell(self) -> int:
        return self.stream.tell()


def _counted(load: Callable[..., None]) -> Callable[..., None]:
    """``load`` after a step is counted; the allowance is asked now and then, for that costs a little."""

    def step(unpickler: _Unpickler) -> None:
        unpickler.steps += 1
        if unpickler.steps == _STEPS_AT_ONCE:
            unpickler.steps = 0
            unpickler.allowance.take(_STEPS_AT_ONCE)
        load(unpickler)

    return step


class _Dispatch(dict[int, Callable[..., None]]):
    def __missing__(self, opcode: int) -> Callable[..., None]:
        raise RefusedError(f"opcode {bytes([opcode])!r} is not allowed in a data file")


class _Unpickler(pickle._Unpickler):
    stack: list[Any]
    metastack: list[Any]
    append: Callable[[Any], None]
    read: Callable[[int], bytes]
    pop_mark: Callable[[], list[Any]]

    def __init__(self, stream: _Bounded) -> None:
        super().__init__(stream)
        self.allowance, self.steps = _Allowance(stream), 0

    def load_mark(self) -> None:
        if len(self.metastack) >= _MOST_MARKS:
            raise RefusedError(f"more than {_MOST_MARKS} values inside each other")
        pickle._Unpickler.load_mark(self)  # type: ignore[attr-defined]

    dispatch: ClassVar[_Dispatch] = _Dispatch(
        {
            getattr(pickle, name)[0]: pickle._Unpickler.dispatch[getattr(pickle, name)[0]]
            for name in _OPCODES.split()
        }
    )

    def find_class(self, module: str, name: str) -> Any:
        found = STAND_INS.get(f"{module}.{name}")
        if found is None:
            raise RefusedError(f"{f'{module}.{name}':.60} is not allowed in a data file")
        return found

    def load_reduce(self) -> None:
        arguments, function = self.stack.pop(), self.stack[-1]
        if type(arguments) is not tuple or not any(function is known for known in STAND_INS.values()):
            raise RefusedError("only arrays may be rebuilt in a data file")
        self.stack[-1] = function(*arguments)

    def load_build(self) -> None:
        state, target = self.stack.pop(), self.stack[-1]
        if type(target) is not StoredArray and type(target) is not Dtype:
            raise RefusedError("only arrays may have a state in a data file")
        target.restore(state)

    def load_bytearray8(self) -> None:
        # As bytes: an array's content never changes, and the base class allocates before it reads.
        (size,) = struct.unpack("<Q", self.read(8))
        self.append(self.read(size))

    def _set_items(self, target: Any, items: list[Any]) -> None:
        # Keys of other types could be tuples nested so deep that hashing them overflows the stack.
        if (
            type(target) is not dict
            or len(items) % 2
            or any(type(key) not in (str, int) for key in items[::2])
        ):
            raise RefusedError("a dictionary's keys must be texts or whole numbers")
        target.update(zip(items[::2], items[1::2], strict=True))

    def load_setitem(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._set_items(self.stack[-1], [key, value])

    def load_setitems(self) -> None:
        items = self.pop_mark()
        self._set_items(self.stack[-1], items)

    def load_dict(self) -> None:
        items = self.pop_mark()
        self.append({})
        self._set_items(self.stack[-1], items)

    for _code, _load in {
        pickle.MARK: load_mark,
        pickle.REDUCE: load_reduce,
        pickle.BUILD: load_build,
        pickle.BYTEARRAY8: load_bytearray8,
        pickle.SETITEM: load_setitem,
        pickle.SETITEMS: load_setitems,
        pickle.DICT: load_dict,
    }.items():
        dispatch[_code[0]] = _load
    for _opcode, _load in list(dispatch.items()):
        dispatch[_opcode] = _counted(_load)

"""Rice codes: small whole numbers in few bits, the code for the gaps between kept weights."""

from __future__ import annotations

from collections.abc import Sequence

from bandstop.errors import ExportError

__all__ = ["best_parameter", "rice_decode", "rice_encode"]


def best_parameter(gaps: Sequence[int]) -> int:
    """The parameter k that needs the fewest bits: a gap g takes ``g >> k`` ones, a zero and k bits.

    >>> best_parameter([0, 1, 0]), best_parameter([40, 60, 50])
    (0, 5)
    """
    return min(range(31), key=lambda k: sum((g >> k) + 1 + k for g in gaps))


def rice_encode(gaps: Sequence[int], k: int) -> bytes:
    """Gaps as bits, padded to whole bytes.

    >>> rice_decode(rice_encode([3, 0, 17], 2), 3, 2)
    ([3, 0, 17], 2)
    """
    bits = "".join("1" * (g >> k) + "0" + (format(g & ((1 << k) - 1), f"0{k}b") if k else "") for g in gaps)
    bits += "0" * (-len(bits) % 8)
    return int("1" + bits, 2).to_bytes(len(bits) // 8 + 1, "big")[1:]


def rice_decode(data: bytes, count: int, k: int) -> tuple[list[int], int]:
    """``count`` gaps from the start of ``data``, and the number of bytes they took."""
    bits = "".join(format(b, "08b") for b in data)
    gaps, at = [], 0
    for _ in range(count):
        end = bits.find("0", at)
        if end < 0 or end + 1 + k > len(bits):
            raise ExportError("the file is cut short: its list of kept connections ends early")
        low = int(bits[end + 1 : end + 1 + k], 2) if k else 0
        gaps.append(((end - at) << k) + low)
        at = end + 1 + k
    return gaps, -(-at // 8)

"""The forms in which data is named, without torch or numpy; `bandstop.skeleton.load` reads them."""

from __future__ import annotations

__all__ = ["FORMS", "KINDS"]

KINDS = {
    "fpha": ("fpha:PATH",),
    "shrec": ("shrec:PATH", "shrec:PATH@28"),
    "sbu": ("sbu:PATH", "sbu:PATH@FOLD"),
    "utd-mhad": ("utd-mhad:PATH",),
    "jackknife": ("jackknife:PATH",),
    "pyskl": ("pyskl:PATH", "pyskl:PATH@SPLIT"),
    "mediapipe": ("mediapipe:PATH",),
    "openpose": ("openpose:PATH",),
    "coco": ("coco:PATH",),
}
"""Formats that are named before a colon, and how."""

FORMS = ", ".join(
    [
        "hands, hands:SEED",
        *(form for forms in KINDS.values() for form in forms),
        "a folder, a table .csv, or an archive .npz",
    ]
)
"""All forms in words."""

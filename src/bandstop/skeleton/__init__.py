"""Skeleton sequences from the files that people have, checked and described.

>>> from bandstop.skeleton import describe, load
>>> hands = load("hands")
>>> hands[0].shape[1:], hands.joint_names[:2], len(hands.class_names)
((21, 3), ('wrist', 'thumb mcp'), 16)
>>> describe(hands).splits
{'train': 720, 'test': 560}
"""

from bandstop.record.reading import Reading
from bandstop.skeleton.archive import read_archive, write_archive
from bandstop.skeleton.description import Description, Duplicate, describe
from bandstop.skeleton.guess import guess_layout
from bandstop.skeleton.hands import make_hands
from bandstop.skeleton.joint_order import match_joints
from bandstop.skeleton.layout import Layout
from bandstop.skeleton.layouts import LAYOUTS
from bandstop.skeleton.loading import FORMS, load
from bandstop.skeleton.sequences import SequenceSet
from bandstop.skeleton.single import load_file, load_sequence
from bandstop.skeleton.unusable import drop_unusable, left_out

__all__ = [
    "FORMS",
    "LAYOUTS",
    "Description",
    "Duplicate",
    "Layout",
    "Reading",
    "SequenceSet",
    "describe",
    "drop_unusable",
    "guess_layout",
    "left_out",
    "load",
    "load_file",
    "load_sequence",
    "make_hands",
    "match_joints",
    "read_archive",
    "write_archive",
]

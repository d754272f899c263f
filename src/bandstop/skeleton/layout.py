"""What a skeleton is: what its joints are called, which are joined by a bone, and which one is the root."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Layout", "plain_name"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SAME = {"l": "left", "r": "right", "pinky": "little", "pinkie": "little", "center": "centre", "finger": ""}


def plain_name(text: str) -> str:
    """A joint's name as words in lower case, however a tool writes it.

    >>> plain_name("INDEX_FINGER_TIP"), plain_name("LShoulder"), plain_name("pinky-mcp")
    ('index tip', 'left shoulder', 'little mcp')
    """
    words = [word.lower() for word in _WORD.findall(text)]
    return " ".join(filter(None, (_SAME.get(word, word) for word in words)))


@dataclass(frozen=True)
class Layout:
    """A tree of named joints (or several trees, for several skeletons side by side).

    >>> pair = Layout("stick", ("top", "bottom"), ((0, 1),), root=0).twice("two sticks")
    >>> pair.nodes, pair.edges, pair.joint_names[2]
    (4, ((0, 1), (2, 3)), 'second top')
    """

    name: str
    joint_names: tuple[str, ...]
    edges: tuple[tuple[int, int], ...] = ()
    root: int = 0
    other_names: tuple[str, ...] = field(default=(), repr=False)
    """What the layout's maker calls the same joints, where that differs."""
    axes: tuple[int, ...] = field(default=(3,), repr=False)
    """How many coordinates of a joint tools give: three, two (in the plane of an image), or either."""

    @property
    def nodes(self) -> int:
        """How many joints."""
        return len(self.joint_names)

    @property
    def key(self) -> str:
        """The name as one word, for the command line."""
        return self.name.replace(" ", "-")

    def twice(self, name: str) -> Layout:
        """Two such skeletons side by side, without a bone between them; the root is the first one's."""
        both = tuple(f"{who} {joint}" for who in ("first", "second") for joint in self.joint_names)
        edges = tuple((a + shift, b + shift) for shift in (0, self.nodes) for a, b in self.edges)
        return Layout(name, both, edges, self.root, axes=self.axes)

    def known_as(self, names: Sequence[str]) -> tuple[str, ...] | None:
        """``names`` of some or all joints, in any order, in this layout's words; None if one is unknown."""
        for words in (self.joint_names, self.other_names):
            place = {plain_name(word): i for i, word in enumerate(words)}
            found = [place.get(plain_name(name)) for name in names]
            if found and None not in found:
                return tuple(self.joint_names[i] for i in found if i is not None)
        return None

    def of(self, names: Sequence[str]) -> Layout:
        """The part of this layout that holds the joints ``names``, in their order; nameless unless it is all.

        >>> Layout("stick", ("top", "middle", "end"), ((0, 1), (1, 2)), root=0).of(["end", "middle"]).edges
        ((1, 0),)
        """
        place = {name: i for i, name in enumerate(names)}
        ends = [(self.joint_names[a], self.joint_names[b]) for a, b in self.edges]
        edges = tuple((place[a], place[b]) for a, b in ends if a in place and b in place)
        root = place.get(self.joint_names[self.root], 0)
        name = self.name if tuple(names) == self.joint_names else ""
        return Layout(name, tuple(names), edges, root, axes=self.axes)

"""Text to train on, made by a small grammar: agreement, clauses and sums,
so that there is something to learn.
"""

import random

SINGULAR = ["the sailor", "a child", "the old miller", "my neighbour", "her brother", "the grey cat"]
PLURAL = ["the sailors", "two children", "some millers", "our neighbours", "his brothers", "three grey cats"]
VERBS = [("sees", "see"), ("carries", "carry"), ("paints", "paint"), ("follows", "follow"), ("finds", "find")]
OBJECTS = [
    "a small boat",
    "the red door",
    "seven apples",
    "an empty basket",
    "the long road",
    "a green lantern",
]
PLACES = ["near the harbour", "behind the mill", "on the bridge", "under the tall tree", "by the river"]
TIMES = ["in the morning", "at noon", "every evening", "before the rain", "after supper"]
NUMBERS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
]


def sentence(draw: random.Random) -> str:
    """One sentence: a statement whose verb agrees with its subject, or a sum that is right."""
    if draw.random() < 0.25:
        first, second = draw.randrange(8), draw.randrange(7)
        return f"{NUMBERS[first]} and {NUMBERS[second]} make {NUMBERS[first + second]}."
    plural = draw.random() < 0.5
    subject = draw.choice(PLURAL if plural else SINGULAR)
    verb = draw.choice(VERBS)[plural]
    words = [subject, verb, draw.choice(OBJECTS)]
    if draw.random() < 0.6:
        words.append(draw.choice(PLACES))
    if draw.random() < 0.5:
        return f"{draw.choice(TIMES)} {' '.join(words)}."
    if draw.random() < 0.3:
        other = draw.choice(VERBS)[plural]
        words.append(f"and {other} {draw.choice(OBJECTS)}")
    return " ".join(words) + "."


def text(characters: int, seed: int) -> str:
    """At least that many characters of it; same seed, same text.

    >>> text(60, 0) == text(60, 0), text(60, 0) == text(60, 1)
    (True, False)
    """
    draw, parts, length = random.Random(seed), [], 0
    while length < characters:
        parts.append(sentence(draw))
        length += len(parts[-1]) + 1
    return " ".join(parts)

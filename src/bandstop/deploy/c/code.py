"""What an emitter hands over: the code of one network, before a header and a front end are put around it."""

from __future__ import annotations

from dataclasses import dataclass

from bandstop.deploy.ir.program import Program

__all__ = ["NetworkCode"]


@dataclass(frozen=True)
class NetworkCode:
    """C of a network function and what it needs."""

    program: Program
    definitions: str
    """Tables, types and functions that come before the network function."""
    body: str
    """Statements of the network function."""
    work: int
    """Values of workspace."""
    plan: str
    """How it is written, for the report."""
    number: str = "float"
    """C type of a value."""
    signal_scale: float = 1.0
    """What the input is multiplied by before it is rounded to that type."""

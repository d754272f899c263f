"""What someone who means harm does to bandstop, by the thousand: `make torture`; see docs/reliability.md."""

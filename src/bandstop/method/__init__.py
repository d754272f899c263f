"""The paper as pure functions: no module, no optimiser, no file."""

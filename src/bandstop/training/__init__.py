"""Training recognisers: the loop, its config, checkpoints and run folders."""

"""What a run is asked for and what it gave, as plain frozen classes: no torch, so that a help text can read them."""

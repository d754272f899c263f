"""What a run is asked for and what it gave, as plain frozen classes without torch."""

"""Tables and curves of a study."""

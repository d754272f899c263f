"""The studio: a local page on which gestures are recorded, trained, tried and taken away."""

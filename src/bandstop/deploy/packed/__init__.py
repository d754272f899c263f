"""The smallest file."""

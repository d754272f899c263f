"""Which connections stay."""

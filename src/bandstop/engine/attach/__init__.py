"""On and off an ``nn.Module``."""

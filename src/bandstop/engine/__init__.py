"""The pruner: any ``nn.Module`` to an exact budget in one training."""

"""Parts of sharded weights and sums over ranks; below the pruner."""

"""The soft histogram of latent weights and its divergence from a prior."""

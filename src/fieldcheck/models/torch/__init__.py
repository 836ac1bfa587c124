"""PyTorch: modules, exported graphs, layers to look into."""

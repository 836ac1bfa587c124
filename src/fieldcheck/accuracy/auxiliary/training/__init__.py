"""What auxiliary variables share that train something small of their own."""

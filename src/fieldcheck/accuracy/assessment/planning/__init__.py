"""What labels will give, before they are paid for."""

"""What happens in the demo, as pure values."""

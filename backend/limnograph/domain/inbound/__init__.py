"""What other programs send, as far as Limnograph reads it."""

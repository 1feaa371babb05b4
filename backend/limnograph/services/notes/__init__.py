"""Notes of a team: accepted, replaced and listed, with acknowledgements and owners among them."""

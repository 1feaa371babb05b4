"""Training sets: what was known of a user at an instant, from one snapshot."""

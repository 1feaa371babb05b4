"""What `limnograph doctor` checks, with real sources."""

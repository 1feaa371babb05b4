"""The end-to-end check of `limnograph demo --check`."""

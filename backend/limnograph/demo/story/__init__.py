"""The demo's story, as pure values."""

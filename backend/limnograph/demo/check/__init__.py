"""`limnograph demo --check`."""

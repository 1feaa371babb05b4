"""Events that other programs push: parsed, matched to tables, stored in the inbox."""

"""Use cases: one per file, ports in, values out. No framework, no library of the outside."""

"""Interfaces of services to the outside, one Protocol per file. Adapters implement them; services see nothing else."""

"""The history in the demo's Prometheus."""

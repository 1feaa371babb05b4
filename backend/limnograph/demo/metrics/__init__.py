"""The past of Prometheus in the demo."""

"""Prometheus: PromQL as values, one HTTP client."""

"""The demo: a real lake with a story, its pipeline, server, Prometheus and Alertmanager (docs/demo.md)."""

"""Routes: parse, call a service, return its answer."""

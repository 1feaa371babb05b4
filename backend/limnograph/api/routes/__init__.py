"""Routes: parse the request, call a service, return its result."""

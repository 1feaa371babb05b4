"""Documentation that the server serves: the OpenAPI document, `/docs`, and the runbooks."""

"""The OpenAPI document, `/docs`, and the runbooks."""

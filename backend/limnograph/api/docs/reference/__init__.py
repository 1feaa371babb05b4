"""The reference of the API out of its OpenAPI document: as Markdown in `docs/api.md`, as a page at `/docs`."""

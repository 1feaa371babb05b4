"""The API reference, generated from the OpenAPI document: Markdown in `docs/api.md` and a page at `/docs`."""

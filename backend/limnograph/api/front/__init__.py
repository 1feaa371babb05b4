"""The ASGI layer in front of Litestar: paths, authentication, kept pages, headers."""

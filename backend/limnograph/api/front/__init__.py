"""The ASGI layer in front of Litestar: paths, authentication, page cache, headers."""

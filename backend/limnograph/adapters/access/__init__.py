"""Tokens, ended sessions, the session key and the audit log as files; OpenID Connect over httpx."""

"""Identifies the caller: sessions, API tokens, failed attempts."""

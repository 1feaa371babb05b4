"""Who is calling: sessions, API tokens, failed attempts."""

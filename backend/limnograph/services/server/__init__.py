"""Server-wide services: live stream, status, doctor, page versions."""

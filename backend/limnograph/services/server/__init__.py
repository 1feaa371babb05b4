"""The server as a whole: live stream, status, doctor, page versions."""

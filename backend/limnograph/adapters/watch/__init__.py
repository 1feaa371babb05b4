"""The watcher seen from the server: a child process and its messages."""

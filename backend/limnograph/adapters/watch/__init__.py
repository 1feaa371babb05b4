"""The server's side of the watcher: a child process and its messages."""

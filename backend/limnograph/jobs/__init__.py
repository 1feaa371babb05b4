"""Long-running programs and child processes: server, pipeline, watcher, parser."""

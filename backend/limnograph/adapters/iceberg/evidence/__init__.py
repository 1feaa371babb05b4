"""What metadata says about an executed action: its commits, the files they changed, and whether files exist."""

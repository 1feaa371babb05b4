"""The programs that the lakehouse is made of: their addresses, commands and start."""

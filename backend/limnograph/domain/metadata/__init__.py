"""What the metadata of one table says, in the same words for every format."""

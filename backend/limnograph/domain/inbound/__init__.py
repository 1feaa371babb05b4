"""Messages of other programs, with the fields that Limnograph reads."""

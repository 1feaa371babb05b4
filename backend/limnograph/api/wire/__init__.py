"""Wire format of the HTTP layer: parameters, problems, access rules."""

"""The wire of the HTTP layer: parameters, problems, access rules."""

"""The meta tables through PyIceberg: schema, creation, upgrade, reads for housekeeping."""

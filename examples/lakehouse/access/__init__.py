"""Who may read what: rules of Trino, made of what each table declares about personal data."""

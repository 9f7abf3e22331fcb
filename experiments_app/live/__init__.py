"""Live reading: rows replayed from the database, hints over the channel layer."""

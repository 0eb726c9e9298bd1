"""What one event file holds: every point and record in columns that grow."""

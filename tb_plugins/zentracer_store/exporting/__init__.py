"""What a log directory holds as rows, for other programs."""

"""What is in a log directory, what is damaged, and what TensorBoard does not show."""

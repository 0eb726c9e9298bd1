"""One file per claim of speed, with its rivals; each has `run()`, which yields its figures as they are measured."""

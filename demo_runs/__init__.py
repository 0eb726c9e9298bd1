"""Small real trainings that leave runs to look at: fixtures, pictures and first impression in one."""

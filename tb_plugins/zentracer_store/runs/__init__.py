"""What the files of a run hold together: sessions, series, timelines."""

"""One run: which partition it is about, and whether it may work on it now."""

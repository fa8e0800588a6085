"""How what was written takes the place of what was there: all of it, or none."""

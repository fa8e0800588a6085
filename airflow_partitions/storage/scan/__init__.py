"""How what is asked for becomes frames."""

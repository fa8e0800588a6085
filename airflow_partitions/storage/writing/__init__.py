"""How frames become files."""

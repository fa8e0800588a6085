"""How keys become names of directories, and back."""

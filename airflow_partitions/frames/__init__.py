"""What a function takes and gives: inputs, and kinds of frames."""

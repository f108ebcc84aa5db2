"""Documents: reading files into text, deciding when a paste is one, and how they stand in a prompt."""

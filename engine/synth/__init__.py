"""Synthetic models: random weights in a real model's shape and number formats, made in memory or written to a file."""

"""Chats on disk: one SQLite file, one thread that writes it, and plain functions on a connection for each operation."""

"""Conversations: their records, the prompt built from them, and the service that the window talks to."""

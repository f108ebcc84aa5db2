"""The list of chats at the left. GUI thread only."""

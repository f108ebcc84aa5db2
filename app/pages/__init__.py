"""Pages and dialogs beside the chat: models, settings, shortcuts. GUI thread only."""

"""The conversation in the middle of the window: a virtualised, selectable list of messages. GUI thread only."""

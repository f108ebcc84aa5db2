"""Where a question is written: the field, document chips, the context meter, Send and Stop. GUI thread only."""

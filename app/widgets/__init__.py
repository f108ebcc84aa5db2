"""Small widgets, icons and the style sheet that every page shares. GUI thread only."""

"""The Qualify page: run the built-in qualification, read its reports. GUI thread, with one helper thread."""

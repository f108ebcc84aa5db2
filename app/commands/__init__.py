"""One module for each subcommand of `haloband`; app.cli imports the one that is asked for."""

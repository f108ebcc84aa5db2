"""Is this machine set up for Haloband? Probes that read files and commands of a host, and verdicts in plain words.

Called by `haloband doctor` and by the window's page, off the GUI thread. No probe changes anything, imports torch or
needs a GPU; everything outside Python reaches them through app.doctor.host.Host, so that any machine can be replayed.
"""

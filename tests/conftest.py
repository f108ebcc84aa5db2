"""Settings that every test shares."""

from hypothesis import settings

# A shared machine may stall any example for seconds; no test of ours is a timing test.
settings.register_profile("haloband", deadline=None)
settings.load_profile("haloband")

"""Pages are tested inside the whole window."""

from tests.app.window.conftest import driver, open_driver

__all__ = ["driver", "open_driver"]

"""pyqtgraph is imported beside the window only when no class of Qt is left to be made by that thread."""

import subprocess
import sys

PROGRAM = """
import importlib, threading, time
import PySide6
from app.telemetry import chart_library

unmade, longest = [], 0.0
real = importlib.import_module

def import_module(name, *rest):
    if name == "pyqtgraph":
        assert threading.current_thread() is not threading.main_thread()
        for module in map(real, (f"PySide6.{each}" for each in ("QtCore", "QtGui", "QtWidgets"))):
            unmade.extend(set(dir(module)) - set(vars(module)))
        unmade.extend({"QtSvg", "QtOpenGLWidgets", "QtTest"} - set(vars(PySide6)))
    return real(name, *rest)

chart_library._import = threading.Thread(target=import_module, args=("pyqtgraph",))
asked = 0
while not chart_library.charts_are_ready():
    asked += 1
    time.sleep(0.001)
import pyqtgraph
print(asked > 5, unmade)
"""


def test_the_thread_finds_every_class_made() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "True []"

"""The whole program in a process of its own, as `haloband --data-dir DIR` starts it, reporting on stdout.

python -m tests.e2e.program DIR open      opens the window; prints "ready", and "raised" when it is brought up
python -m tests.e2e.program DIR stream    asks a question and prints "text N" as the answer grows, without end
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app import main_window
from app.window import MainWindow


def main() -> int:
    folder, what = Path(sys.argv[1]), sys.argv[2]
    raised = MainWindow.raise_window

    def report_raised(window: MainWindow) -> None:
        raised(window)
        print("raised")

    MainWindow.raise_window = report_raised  # type: ignore[method-assign] # the only sign of it that a test can read
    QTimer.singleShot(0, lambda: _find_window(what))
    return main_window.run_app(argparse.Namespace(data_dir=folder, model=None))


def _find_window(what: str) -> None:
    """Poll for the window from inside the event loop, then report or drive it."""
    windows = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow) and w.isVisible()]
    if not windows or not windows[0].services.host.has_model or windows[0].services.chats.current_chat_id is None:
        QTimer.singleShot(50, lambda: _find_window(what))
        return
    print("ready")
    if what == "stream":
        _stream(windows[0])


def _stream(window: MainWindow) -> None:
    window.services.settings.change(lambda s: replace(s, answers=replace(s.answers, max_tokens=12000)))
    window.chat.composer.field.setPlainText("Write a very long story about the sea.")
    window.chat.composer.send_requested.emit(None)
    timer = QTimer(window, interval=50)
    timer.timeout.connect(lambda: _report(window))
    timer.start()


def _report(window: MainWindow) -> None:
    messages = window.chat.transcript.messages
    print(f"text {len(messages[-1].text) if len(messages) == 2 else 0}")


if __name__ == "__main__":
    app = main_window.make_application()
    sys.exit(main())

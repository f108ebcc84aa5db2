"""Takes pictures of every page of the real program with the embedded model, for the README and for looking at.

    python packaging/screenshots.py OUT [--themes light dark] [--scales 1 2] [--languages en de] [--pages chat …]

Without a display it starts Xvfb. Each combination runs in a process of its own, because Qt takes its scale from the
environment. A language from right to left that has no translation, such as "ar", gives the mirrored window with English
texts. The chats in the pictures come from packaging/screenshot_chat.json and from the embedded model itself.
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.transcript.model import MessageView
    from app.window import MainWindow

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
PAGES = (
    "empty", "chat", "prefill", "answer", "refused", "find", "search", "models", "settings", "shortcuts",
    "chat-settings", "help", "doctor", "benchmark", "failure", "narrow",
)  # fmt: skip
WIDTH, HEIGHT = 1440, 900
DISPLAY = ":91"
_FACT, _QUESTION = "The password of the lighthouse is 7316.", "What is the password of the lighthouse?"


def main() -> int:
    args = _arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    if args.child:
        return take(args.out, args.themes[0], args.scales[0], args.languages[0], args.pages)
    server = None if os.environ.get("DISPLAY") else _start_xvfb()
    status = 0
    try:
        for theme, scale, language in itertools.product(args.themes, args.scales, args.languages):
            command = [sys.executable, __file__, str(args.out), "--child", "--themes", theme, "--scales", str(scale)]
            command += ["--languages", language, "--pages", *args.pages]
            environment = os.environ | {"QT_SCALE_FACTOR": str(scale), "QT_QPA_PLATFORM": "xcb"}
            environment.setdefault("DISPLAY", DISPLAY)
            status |= subprocess.run(command, env=environment, check=False).returncode
    finally:
        if server is not None:
            server.terminate()
    return status


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("out", type=Path, help="folder for the PNG files")
    parser.add_argument("--themes", nargs="+", default=["light", "dark"], choices=["light", "dark"])
    parser.add_argument("--scales", nargs="+", type=float, default=[1.0, 2.0])
    parser.add_argument("--languages", nargs="+", default=["en", "de"])
    parser.add_argument("--pages", nargs="+", default=list(PAGES), choices=PAGES)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _start_xvfb() -> "subprocess.Popen[bytes]":
    server = subprocess.Popen(["Xvfb", DISPLAY, "-screen", "0", "2944x1864x24"], stderr=subprocess.DEVNULL)
    time.sleep(1.0)
    return server


def take(out: Path, theme: str, scale: float, language: str, pages: list[str]) -> int:
    """Open the window once and take every page of one combination. Imports Qt, so a process of its own."""
    from app.garbage import GuiGarbageCollector
    from app.main_window import make_application, open_window
    from app.paths import app_paths
    from app.real_engine import load_engine_model

    application = make_application()
    collector = GuiGarbageCollector()
    with tempfile.TemporaryDirectory() as folder:
        paths = app_paths(Path(folder))
        _write_settings(paths.settings_file, theme, language)
        with open_window(paths, load_engine_model, []) as window:
            window.resize(WIDTH, HEIGHT)
            window.show()
            shoot = Photographer(window, application.processEvents, out, f"{theme}-{scale:g}x-{language}")
            shoot.wait(lambda: window.services.host.has_model, 120)
            for page in pages:
                shoot.page(page)
    collector.close()
    return 0


def _document(size: int) -> str:
    """About `size` characters of a novel with one fact in the middle that the novel knows nothing of."""
    novel = (ROOT / "resources" / "texts" / "persuasion.txt").read_text(encoding="utf-8")[:size]
    middle = novel.index(". ", size // 2) + 2
    return f"{novel[:middle]}{_FACT} {novel[middle:]}"


def _write_settings(path: Path, theme: str, language: str) -> None:
    from app.settings import Settings, Theme
    from app.settings_file import SettingsFile

    path.parent.mkdir(parents=True, exist_ok=True)
    settings = Settings()
    settings = replace(
        settings,
        appearance=replace(settings.appearance, theme=Theme(theme)),
        general=replace(settings.general, language=language),
        answers=replace(settings.answers, temperature=0.0, max_tokens=96),
    )
    SettingsFile(path).save(settings)


class Photographer:
    """Brings the window into each state through its own widgets and saves what it shows."""

    def __init__(self, window: "MainWindow", pump: Callable[[], object], out: Path, suffix: str) -> None:
        self._window, self._pump, self._out, self._suffix = window, pump, out, suffix

    def wait(self, condition: Callable[[], object], timeout_s: float) -> None:
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            self._pump()
            if condition():
                return
            time.sleep(0.005)
        raise TimeoutError("the window did not come into the state to be shown")

    def settle(self, seconds: float = 0.4) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._pump()
            time.sleep(0.005)

    def page(self, name: str) -> None:
        """Take one page."""
        getattr(self, "_" + name.replace("-", "_"))()
        self.settle()
        self._save(self._window, name)
        self._close_dialogs(name)

    def _save(self, widget: "QWidget", name: str) -> None:
        path = self._out / f"{name}-{self._suffix}.png"
        if not widget.grab().save(str(path)):
            print(f"could not write {path}", file=sys.stderr)

    def _close_dialogs(self, name: str) -> None:
        from PySide6.QtWidgets import QDialog

        for dialog in self._window.findChildren(QDialog):
            if dialog.isVisible():
                self._save(dialog, name)
                dialog.close()
        self.settle(0.1)

    # ------------------------------------------------------------ states

    @property
    def _last(self) -> "MessageView | None":
        messages = self._window.chat.transcript.messages
        return messages[-1] if messages else None

    def _empty(self) -> None:
        self._new_chat()

    def _new_chat(self) -> None:
        self._window.shortcuts["new_chat"].trigger()
        self.wait(lambda: not self._window.chat.transcript.messages, 10)

    def _chat(self) -> None:
        chats = self._window.services.chats
        chats.import_chats(ROOT / "packaging" / "screenshot_chat.json")
        self.wait(lambda: len(self._window.chat.transcript.messages) == 4, 20)
        self._window.toast.hide()

    def _prefill(self) -> None:
        self._new_chat()
        self._window.chat.composer.field.setPlainText(_QUESTION)
        self._window.services.chats.paste_text(_document(33_000))
        self.settle(1.5)
        self._window.chat.composer.send_requested.emit(None)
        self.wait(lambda: self._last is not None and self._last.prefill and self._last.prefill.tokens_done, 60)

    def _answer(self) -> None:
        """What the page before this one began, or one of its own."""
        if self._last is None or self._last.prefill is None:
            self._prefill()
        self.wait(lambda: self._last is not None and self._last.text and self._last.stats, 120)

    def _refused(self) -> None:
        self._new_chat()
        self._window.services.chats.paste_text(_document(150_000))
        self._window.chat.composer.field.setPlainText("Summarise this.")
        self.wait(lambda: self._window.chat.composer.meter.is_over, 30)
        self._window.chat.composer.send_requested.emit(None)
        self.wait(self._window.chat.composer.refusal.isVisible, 20)

    def _find(self) -> None:
        self._chat()
        self._window.shortcuts["find"].trigger()
        self._window.chat.find_bar.field.setText("row")

    def _search(self) -> None:
        self._window.chat.find_bar.close_bar()
        self._window.shortcuts["search"].trigger()
        self._window.sidebar.search_field.setText("memory")
        self.settle(1.0)

    def _models(self) -> None:
        self._window.sidebar.search_field.clear()
        bad = Path(tempfile.mkdtemp()) / "not-a-model.gguf"
        bad.write_bytes(b"GGUF and then nothing")
        self._window.models.add_file(bad)
        self._window.shortcuts["models"].trigger()
        self.wait(lambda: len(self._window.models.cards) > 1, 10)

    def _settings(self) -> None:
        self._window.shortcuts["settings"].trigger()

    def _shortcuts(self) -> None:
        self._window.shortcuts["shortcuts"].trigger()

    def _chat_settings(self) -> None:
        self._window.pages.show_page(self._window.chat)
        self._window.header.settings_button.click()

    def _help(self) -> None:
        self._window.shortcuts["help"].trigger()

    def _doctor(self) -> None:
        self._window.shortcuts["doctor"].trigger()
        self.settle(6.0)

    def _benchmark(self) -> None:
        self._window.pages.show_page(self._window.chat)
        self._window.panel.tabs.setCurrentIndex(1)

    def _failure(self) -> None:
        self._window.panel.tabs.setCurrentIndex(0)
        self._window.show_problem(
            "The chats on disk were damaged. They are kept as chats-damaged.db, a new file is used."
        )

    def _narrow(self) -> None:
        for banner in self._window.chat.banners.shown:
            banner.hide()
        self._window.resize(480, 760)


if __name__ == "__main__":
    sys.exit(main())

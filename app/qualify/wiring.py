"""Puts the Qualify page together with the engine host and the model in use. Called by the window's start-up.

The processes of a qualification load the model themselves; it refuses to start beside an answer, a load or a
benchmark, which would share the machine with it. GUI thread.
"""

from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.engine_host import EngineHost, JobKind
from app.protocol.events import Event, ModelLoaded
from app.qualify.page import QualifyPage
from app.qualify.runner import QualifyRunner
from app.theme import Theme


def _tr(text: str) -> str:
    return QCoreApplication.translate("QualifyPage", text)


def reason_to_refuse(host: EngineHost) -> str:
    """Why no qualification may start now; empty if it may."""
    busy = host.busy_kinds
    if JobKind.ANSWER in busy:
        return _tr("An answer is being written. Start when it has ended.")
    if JobKind.LOAD in busy:
        return _tr("A model is being loaded. Start when it is ready.")
    return _tr("A benchmark is running. Start when it has ended.") if busy else ""


def make_qualify_page(host: EngineHost, folder: Path, theme: Theme, model: Path | None = None) -> QualifyPage:
    """The page on a host that has `model` loaded (None: the embedded one). `folder` keeps the reports
    (AppPaths.qualifications_dir); call `close_tasks` at the end."""
    used = [model]
    page = QualifyPage(QualifyRunner(folder), lambda: used[0], theme)

    def on_event(event: Event) -> None:
        if isinstance(event, ModelLoaded):
            used[0] = event.path

    def on_jobs_changed() -> None:
        page.set_blocked(reason_to_refuse(host))

    host.event_arrived.connect(on_event)
    host.jobs_changed.connect(on_jobs_changed)
    if host.busy_kinds:
        on_jobs_changed()
    return page

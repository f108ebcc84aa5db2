"""The style sheet of the application, written for one theme. Only colours, radii and spacing: no sizes in pixels for
text, so that the person's font and scale hold. Called by `theme_controller`, GUI thread."""

from string import Template
from types import MappingProxyType

from app.theme import RADIUS, Theme, mix

# Icon, and the colour of the theme it is drawn in.
SHEET_ICONS = MappingProxyType({"check": "on_accent", "chevron-down": "text"})

_SHEET = Template(
    """
QWidget { color: $text; }
QMainWindow, QDialog, #chrome, #sidebar, #sidePanel, #statusLine { background: $window; }
#reading, #page { background: $base; }
QToolTip { background: $raised; color: $text; border: 1px solid $hairline; padding: 4px 8px; }

QLabel[textSize="small"], QToolButton[textSize="small"], QPushButton[textSize="small"], QCheckBox[textSize="small"] {
    font-size: ${small}pt;
}
QLabel[textSize="title"] { font-size: ${title}pt; font-weight: 600; }
QLabel[tone="muted"], QToolButton[tone="muted"] { color: $muted; }
QLabel[tone="danger"] { color: $danger; }
QLabel[tone="warning"] { color: $warning; }
QLabel[tone="strong"] { font-weight: 600; }

QPushButton {
    background: $raised; border: 1px solid $hairline; border-radius: ${radius}px;
    padding: 5px 14px; min-height: 18px;
}
QPushButton:hover { background: $hover; }
QPushButton:pressed, QPushButton:checked { background: $selection; }
QPushButton:focus { border: 1px solid $accent; }
QPushButton:disabled { color: $muted; background: transparent; }
QPushButton[kind="primary"] { background: $accent; color: $on_accent; border-color: $accent; font-weight: 600; }
QPushButton[kind="primary"]:hover { background: $accent_hover; }
QPushButton[kind="primary"]:focus { border: 2px solid $text; }
QPushButton[kind="primary"]:disabled { background: $raised; color: $muted; border-color: $hairline; }

QToolButton { background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 4px; }
QToolButton:hover { background: $hover; }
QToolButton:pressed, QToolButton:checked { background: $selection; }
QToolButton:focus { border: 1px solid $accent; }
QToolButton::menu-indicator { image: none; width: 0; }
QToolButton[kind="primary"] { background: $accent; color: $on_accent; border-radius: ${radius}px; }
QToolButton[kind="primary"]:hover { background: $accent_hover; }
QToolButton[kind="primary"]:focus { border: 2px solid $text; }
QToolButton[kind="primary"]:disabled { background: $raised; }

QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QPlainTextEdit[kind="field"] {
    background: $base; border: 1px solid $outline; border-radius: 6px; padding: 4px 8px;
    selection-background-color: $selection; selection-color: $text;
}
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus, QPlainTextEdit[kind="field"]:focus {
    border: 1px solid $accent;
}
QAbstractSpinBox QLineEdit { border: none; background: transparent; padding: 0 6px; }
QAbstractSpinBox:disabled, QAbstractSpinBox QLineEdit:disabled, QComboBox:disabled {
    color: $muted; border-color: $hairline;
}
QComboBox::drop-down { border: none; width: 28px; }
QComboBox::down-arrow { image: url($icons/chevron-down.svg); width: 12px; height: 12px; }
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {
    width: 0; border: none;
}
QToolButton::menu-indicator { image: none; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QComboBox QAbstractItemView {
    background: $base; border: 1px solid $hairline; selection-background-color: $selection; selection-color: $text;
    outline: none; padding: 4px;
}
#searchField { border: 1px solid transparent; background: $raised; }
#searchField:focus { border: 1px solid $accent; background: $base; }

#composerCard { background: $base; border: 1px solid $outline; border-radius: ${radius}px; }
#composerCard[focused="true"] { border: 1px solid $accent; }
#composerCard[dropping="true"] { border: 2px dashed $accent; background: $accent_tint; }
#composerCard QPlainTextEdit {
    background: transparent; border: none; selection-background-color: $selection; selection-color:
    $text;
}
#chips { background: transparent; }
#chip { background: $raised; border: 1px solid $hairline; border-radius: 6px; }
#chip[state="failed"] { border-color: $danger; }

#banner { background: $raised; border: 1px solid $hairline; border-left: 3px solid $accent; border-radius: 6px; }
#banner[level="warning"] { border-left-color: $warning; }
#banner[level="error"] { border-left-color: $danger; }
#toast { background: $text; border-radius: ${radius}px; }
#toast QLabel { color: $base; }
#toast QPushButton {
    background: transparent; border: none; color: $base; font-weight: 600; text-decoration: underline;
    padding: 4px 8px;
}
#toast QPushButton:focus { border: 1px solid $base; }
#newestButton { background: $base; border: 1px solid $outline; border-radius: 16px; padding: 6px 14px; }
#newestButton:hover { background: $hover; }
#newestButton:focus { border: 1px solid $accent; }
#hairline { background: $hairline; border: none; }
#card { background: $base; border: 1px solid $hairline; border-radius: ${radius}px; }

QListView, QTreeView, QTableView { background: transparent; border: none; outline: none; }
QTableView, QTreeView { gridline-color: $hairline; selection-background-color: $selection; selection-color: $text; }
QTreeView::item { padding: 3px 4px; }
QHeaderView::section {
    background: transparent; color: $muted; border: none; border-bottom: 1px solid $hairline; padding: 4px 8px;
}
QTableCornerButton::section { background: transparent; border: none; }

QTabWidget::pane { border: none; border-top: 1px solid $hairline; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab {
    background: transparent; color: $muted; padding: 8px 14px; border: none; border-bottom: 2px solid
    transparent;
}
QTabBar::tab:selected { color: $text; border-bottom: 2px solid $accent; }
QTabBar::tab:hover { color: $text; }
QTabBar::tab:focus { color: $text; background: $hover; }

QProgressBar { background: $hairline; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }
QProgressBar::chunk { background: $accent; border-radius: 2px; }

QSplitter::handle { background: $hairline; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }

QMenu { background: $base; border: 1px solid $hairline; padding: 4px; }
QMenu::item { padding: 6px 28px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: $selection; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $hairline; margin: 4px 8px; }
QMenu::icon { padding-left: 8px; }

QScrollArea { background: transparent; border: none; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle { background: $scroll; border-radius: 4px; margin: 2px; }
QScrollBar::handle:hover { background: $outline; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QCheckBox, QRadioButton { spacing: 8px; }
QCheckBox::indicator, QTreeView::indicator {
    width: 16px; height: 16px; border: 1px solid $outline; border-radius: 4px; background: $base;
}
QCheckBox::indicator:checked { background: $accent; border-color: $accent; image: url($icons/check.svg); }
QCheckBox::indicator:focus { border: 2px solid $text; }
QCheckBox::indicator:disabled { border-color: $hairline; background: $raised; }
QGroupBox { border: none; font-weight: 600; margin-top: 20px; padding-top: 4px; }
QGroupBox::title { subcontrol-origin: margin; left: 0; }
"""
)


def stylesheet(theme: Theme, small_pt: float, title_pt: float, icons: str) -> str:
    """The whole sheet for a theme and the two other text sizes, in points.

    `icons` is the folder with the icons of `SHEET_ICONS` in the theme's colours: a sheet can only name files.
    """
    return _SHEET.substitute(
        window=theme.window,
        base=theme.base,
        raised=theme.raised,
        hover=theme.hover,
        hairline=theme.hairline,
        outline=theme.outline,
        text=theme.text,
        muted=theme.muted,
        accent=theme.accent,
        accent_hover=mix(theme.accent, theme.text, 0.12),
        accent_tint=theme.accent_tint,
        on_accent=theme.on_accent,
        selection=theme.selection,
        scroll=mix(theme.base, theme.text, 0.25),
        danger=theme.danger,
        warning=theme.warning,
        icons=icons,
        radius=RADIUS,
        small=f"{small_pt:.2f}",
        title=f"{title_pt:.2f}",
    )

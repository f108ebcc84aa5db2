"""Which of the two side regions a window of some width has room for. Pure arithmetic; called by the main window."""

from dataclasses import dataclass

# In average characters of the interface font, so that larger text needs a wider window.
SIDEBAR_CHARACTERS = 28
PANEL_CHARACTERS = 42
_CHAT_CHARACTERS = 58  # the least that the composer's foot takes without being cut


@dataclass(frozen=True, slots=True)
class Sides:
    """What is shown beside the chat."""

    sidebar: bool
    panel: bool


def sides_that_fit(width: float, character: float, wanted: Sides, forced: Sides) -> Sides:
    """`wanted` where there is room in `width` pixels; `forced` ones in any case (the person just asked for them).

    The panel gives way first, then the sidebar.
    """
    room = width / max(1.0, character)
    sidebar = wanted.sidebar and (forced.sidebar or room >= SIDEBAR_CHARACTERS + _CHAT_CHARACTERS)
    taken = SIDEBAR_CHARACTERS if sidebar else 0
    panel = wanted.panel and (forced.panel or room >= taken + _CHAT_CHARACTERS + PANEL_CHARACTERS)
    return Sides(sidebar, panel)

"""The examples and tables in docs/ are run and counted again, so that a page cannot drift from the program."""

import doctest
import re
from pathlib import Path

import pytest

from engine.cache_shape import CacheShape
from engine.ledger import memory_report
from engine.plan import Step

DOCS = Path(__file__).parents[2] / "docs"
PAGES_WITH_EXAMPLES = ("bands.md", "memory.md")
FENCE = re.compile(r"^```pycon\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADER_KEYS = {"schema", "model", "tokens", "context", "row_type", "steps", "counting"}


def examples(page: Path) -> doctest.DocTest:
    """All `pycon` blocks of a page as one session, each example on its own line of the page."""
    text = page.read_text()
    blocks = [(text[: found.start(1)].count("\n"), found[1]) for found in FENCE.finditer(text)]
    parsed = [
        doctest.Example(example.source, example.want, lineno=line + example.lineno)
        for line, block in blocks
        for example in doctest.DocTestParser().get_examples(block)
    ]
    return doctest.DocTest(parsed, {}, page.name, str(page), 0, text)


@pytest.mark.parametrize("name", PAGES_WITH_EXAMPLES)
def test_examples_give_what_the_page_shows(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = examples(DOCS / name)
    assert len(page.examples) >= 5
    result = doctest.DocTestRunner().run(page)
    assert result.failed == 0, capsys.readouterr().out


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_no_example_is_outside_a_tested_block(page: Path) -> None:
    shown = page.read_text().count(">>> ")
    assert shown == 0 or page.name in PAGES_WITH_EXAMPLES
    assert shown == len(examples(page).examples)


def table_rows(page: str, first_heading: str) -> list[list[str]]:
    """The cells below a Markdown table's two heading lines, up to the first line that is not part of it."""
    lines = (DOCS / page).read_text().splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(f"| {first_heading} |"))
    cells = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        cells.append([cell.strip() for cell in line.strip("|").split("|")])
    return cells


def test_the_mask_table_of_the_memory_page() -> None:
    rows = table_rows("memory.md", "N")
    assert len(rows) == 5
    for tokens, ratio_4_bytes, *gib in rows:
        size = int(tokens.replace(",", ""))
        report = memory_report(CacheShape.v4_flash(), size, [Step(0, size)], size, 0, 0)
        assert f"{report.mask_bytes_of(4):,}" == ratio_4_bytes
        counted = (*map(report.mask_bytes_of, (4, 128, 0)), report.mask_bytes)
        assert [f"{value / 2**30:.3f}" for value in counted] == gib


def test_the_worked_products_of_the_memory_page() -> None:
    """Lines of the form `factors = number bytes`, as the page writes them, come out as written."""
    text = (DOCS / "memory.md").read_text()
    found = re.findall(r"^ +(?:N = [\d,]+: +)?([\d,x+/() ]+?) (?:bytes )? *= +([\d,]+) bytes", text, re.MULTILINE)
    assert len(found) >= 3
    for product, number in found:
        assert eval(product.replace(",", "").replace("x", "*")) == int(number.replace(",", ""))  # our own page's text


def test_the_memory_page_names_every_key_of_the_json() -> None:
    from app.commands import memory
    from app.commands.memory_views import as_json
    from tests.app.commands.test_memory_command import parse

    text = (DOCS / "memory.md").read_text()
    found = as_json(memory.make_forecast(parse("--tokens", "512")))
    keys = {*found, *found["layers"][0]} - HEADER_KEYS - {"layer", "ratio"}
    missing = {key for key in keys if f"`{key}`" not in text and not key.startswith("mask_gib_")}
    assert missing == set()


def test_the_strix_halo_page_shows_what_the_doctor_says(tmp_path: Path) -> None:
    from app.doctor.report import as_text
    from tests.app.doctor.recorded import findings, host

    text = (DOCS / "strix-halo.md").read_text()
    shown = text.partition("<!-- doctor: begin -->\n```text\n")[2].partition("```\n<!-- doctor: end -->")[0]
    said = as_text([findings(host(tmp_path))["gtt_limit"]])
    assert shown.count("\n") >= 3 and shown.rstrip() in said

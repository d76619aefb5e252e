"""The page in a browser: filters move accuracies, links bring them back, keys do what the mouse does."""

import json

import pytest
from scipy import stats

from scripts.core.statistics import paired, procedures
from scripts.explorer import explorer as script
from tests.browser import Browser
from tests.explorer import small

READABLE = """(() => {
  const light = text => text.match(/[\\d.]+/g).slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const behind = node => {
    const colour = getComputedStyle(node).backgroundColor;
    return colour === "rgba(0, 0, 0, 0)" && node.parentElement ? behind(node.parentElement) : colour;
  };
  const faint = [];
  for (const node of document.querySelectorAll("body *")) {
    const words = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
    if (!words || node.tagName === "SCRIPT" || !node.getClientRects().length) continue;
    const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(node.textContent);
  }
  return faint;
})()"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(tmp_path_factory, root):
    folder = tmp_path_factory.mktemp("page")
    script.main(
        template=str(root / "paper/explorer.html"), summaries=[small.summary(folder)], canary=small.CANARY,
        page=str(folder / "page.html"), studies=small.build(folder), models=small.MODELS,
    )  # fmt: skip
    return folder / "page.html"


@pytest.fixture
def opened(browser, page):
    def go(fragment="", width=1280):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.call("Emulation.setDeviceMetricsOverride", **size)
        browser.call("Page.navigate", url="about:blank")
        browser.wait("location.href === 'about:blank'")
        browser.call("Page.navigate", url=f"{page.as_uri()}#{fragment}")
        browser.wait("location.protocol === 'file:' && document.querySelector('#tabs button')")
        return browser

    return go


def shown(browser, selector):
    return browser.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")


def choose(browser, name, value):
    browser.evaluate(
        f"""(() => {{ const select = document.getElementById({json.dumps(name)}); select.value = {json.dumps(value)};
        select.dispatchEvent(new Event("change")); }})()"""
    )


def test_markup_stays_text(opened):
    browser = opened("item=id00&b=M+<script>,+prompt+1")
    assert browser.evaluate("document.title") == f"Explorer: Small {small.MARKUP}"
    assert browser.evaluate("document.querySelectorAll('script').length") == 2
    assert small.MARKUP in shown(browser, "nav") and small.MARKUP in shown(browser, "#factors")
    assert small.MARKUP in shown(browser, "#list") and f"her {small.MARKUP}" in shown(browser, ".said")
    # What a model thought before it answered is folded.
    assert not browser.evaluate("document.querySelector('.detail .reader details').open")
    assert f"Fill: {small.MARKUP} 0" in shown(browser, ".detail") and small.CANARY in shown(browser, "footer")
    assert "sentences about somebody else" in shown(browser, "#legend")
    assert shown(browser, "#list .m1") == "The guest sat down."


def test_a_filter_moves_accuracy_and_interval_and_a_link_brings_them_back(opened):
    browser = opened()
    assert shown(browser, "#value-a").startswith("66.7% [") and shown(browser, "#value-b").startswith("50.0%")
    whole = shown(browser, "#value-a")
    choose(browser, "f.n_distractors", "1")
    # Every third instance has a sentence about somebody else, and the first model is wrong about just these.
    assert shown(browser, "#value-a").startswith("0.0% [0.0, ") and "20 instances" in shown(browser, "#listed")
    browser.click("#a .bar button")
    assert shown(browser, "#listed").startswith("10 instances: introduced he, A preferred she")
    browser.click("#list li button")
    link = browser.evaluate("location.hash").removeprefix("#")
    assert "f.n_distractors=1" in link and "item=id00" in link
    again = opened(link)
    assert shown(again, "#value-a").startswith("0.0%") and shown(again, "#listed").startswith("10 instances")
    assert again.evaluate("document.querySelector('.detail').getBoundingClientRect().top < innerHeight")
    # Who follows another link, or goes back, sees that.
    again.evaluate("location.hash = '#set=official'")
    again.wait("document.querySelector('#list').textContent === ''")
    again.evaluate("history.back()")
    again.wait("document.querySelector('.detail')")
    again.click("#clear")
    assert shown(again, "#value-a") == whole
    browser.click("#difference button:nth-of-type(2)")
    assert shown(browser, "#listed").startswith("20 instances: only A right")


def test_without_another_reader_of_the_same_instances_nothing_is_compared(opened):
    browser = opened("a=M+<script>,+prompt+1&b=M+<script>,+prompt+1")
    assert "Choose another" in shown(browser, "#b") and shown(browser, "#difference") == ""
    browser.evaluate("change({ b: 'other' })")
    assert shown(browser, "#value-b").startswith("50.0%") and "on 6 instances" in shown(browser, "#difference")


def test_the_interval_is_that_of_occupations(opened):
    """Wilson's, of as many instances as have the standard error of a mean over clusters."""
    browser = opened()
    right = [n % 3 != 0 for n in range(60)]
    sums = [sum(right[k::12]) for k in range(12)]
    low, high = procedures.cluster_bootstrap(sums, [5] * 12, 5000, 1)
    # Occupations are all right or all wrong here: five times fewer instances than there seem to be.
    found = browser.evaluate("(e => [e.low, e.high])(of(reader('a'), rowsOf()))")
    assert found == pytest.approx([low, high], abs=0.08) and found[1] - found[0] > 0.4
    both = browser.evaluate("estimate(rowsOf(), row => right(reader('a'), row) - right(reader('b'), row), false)")
    other = [n % 2 != 0 for n in range(60)]
    sums, sizes = paired.cluster_sums(right, other, [n % 12 for n in range(60)])
    half = 2.200985 * stats.sem(sums / sizes)
    assert [both["low"], both["high"]] == pytest.approx([1 / 6 - half, 1 / 6 + half], abs=1e-3)


def test_everything_is_reached_by_keys(opened):
    browser = opened()
    browser.press("Tab")
    assert browser.evaluate("document.activeElement.getAttribute('aria-current')") == "true"
    assert browser.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    for _ in range(30):
        if browser.evaluate("Boolean(document.activeElement.closest('#list'))"):
            break
        browser.press("Tab")
    first = browser.evaluate("document.activeElement.dataset.key")
    browser.press("ArrowRight", times=2)
    browser.press("Enter")
    assert browser.evaluate("document.activeElement.dataset.key") == "item 2" != first
    assert browser.evaluate("location.hash").endswith("item=id02") and "task.tsv:5" in shown(browser, ".detail")
    browser.press("End")
    assert browser.evaluate("document.activeElement.dataset.key") == "item 24"
    # Clusters are drawn in the text, with the number of each.
    assert "[<script]1>" in shown(browser, ".detail .reader:nth-child(2)").replace("₁", "1")


def test_other_sets_have_numbers_and_say_why(opened):
    browser = opened("set=official")
    assert "Official templates" in shown(browser, "#notices") and shown(browser, "#value-a").startswith("66.7%")
    assert shown(browser, "#list") == "" and small.SECRET not in browser.evaluate("document.documentElement.outerHTML")


@pytest.mark.parametrize("width", [1280, 380])
def test_readable_at_both_widths(opened, width):
    browser = opened("item=id00", width)
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert browser.evaluate(READABLE) == []

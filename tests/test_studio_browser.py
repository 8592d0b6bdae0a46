"""The studio in a real browser: what a visitor does, and what the page answers."""

import http.client
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from chromium import opened, running_browser

pytest.importorskip("panel", reason="panel comes with the studio extra")


@pytest.fixture(scope="module")
def address():
    """A studio of its own process, as the command starts it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "separatrix", "studio", "--no-show", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = []
    listener = threading.Thread(target=lambda: said.extend(process.stderr), daemon=True)
    try:
        assert f"http://localhost:{port}/" in process.stderr.readline()
        listener.start()
        yield f"http://localhost:{port}/"
    finally:
        process.terminate()
        process.wait(30)
        listener.join(10)
        process.stderr.close()
    ours = str(Path("separatrix", "studio"))
    assert not [line for line in said if ours in line], "".join(said)  # no traceback through its code


@pytest.fixture(scope="module")
def browser(address):
    with running_browser() as running:
        yield running


class Visit:
    """A window of the studio."""

    def __init__(self, browser, address, **options):
        self.page, self.troubles = opened(browser, offline=False, **options)
        self.hosts = set()
        self.page.on(
            "request",
            lambda request: self.hosts.add(request.url.split("/")[2] if "localhost" in request.url else request.url),
        )
        self.page.set_default_timeout(90_000)
        self.page.goto(address)
        self.page.wait_for_selector("table.course")
        self.page.wait_for_function("Bokeh.documents.length && Bokeh.documents[0].is_idle")

    def close(self):
        assert {host.split(":")[0] for host in self.hosts} == {"localhost"}
        assert not self.troubles
        self.page.context.close()

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def data(self, name):
        return self.page.evaluate(
            f"(() => {{ const d = Bokeh.documents[0].get_model_by_name('{name}').data;"
            " return Object.fromEntries(Object.entries(d).map(([k, v]) => [k, Array.from(v, (e) => "
            "typeof e === 'object' ? Array.from(e) : e)])); })()"
        )

    def step(self):
        return int(self.page.locator("table.course").get_attribute("data-step"))

    def text_of(self):
        """What a visitor sees, for the message of a test that fails."""
        seen = self.page.locator("table.course, .answer, .error").all_inner_texts()
        return seen + [chosen.input_value() for chosen in self.page.locator("select").all()]

    def until(self, holds, what, seconds=60):
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"{what}; the page says: {self.text_of()}"
            self.page.wait_for_timeout(50)

    def place(self, x, y):
        """Where on the screen a place of the plane is."""
        return self.page.evaluate(
            f"""(() => {{
            const walk = (view) => view.model.name === 'drawing' ? view
              : (view.child_views || []).map(walk).find((found) => found);
            const view = Object.values(Bokeh.index).map(walk).find((found) => found);
            const box = view.canvas_view.el.getBoundingClientRect();
            return [box.x + view.frame.x_scale.compute({x}), box.y + view.frame.y_scale.compute({y})]; }})()"""
        )

    def tap(self, x, y):
        self.page.mouse.click(*self.place(x, y))


@pytest.fixture
def visit(browser, address):
    made = Visit(browser, address)
    yield made
    made.close()


def test_a_point_is_added_moved_recoloured_deleted_and_undone(visit):
    visit.press("one update")
    visit.until(lambda: visit.data("boundary 1")["xs"], "no boundary")
    before, count = visit.data("boundary 1"), len(visit.data("points")["x"])
    visit.page.get_by_role("button", name="class 2").click()
    pencil = "Bokeh.documents[0].get_model_by_name('pencil').default_overrides"
    visit.page.wait_for_function(f"({pencil}.get ? {pencil}.get('code') : {pencil}.code) === '1'")
    visit.tap(-1.0, -0.9)
    visit.until(lambda: len(visit.data("points")["x"]) == count + 1, "no new point")
    assert visit.data("points")["code"][-1] == "1"
    visit.until(lambda: visit.data("boundary 1") != before, "the boundary did not move")
    visit.until(lambda: "No line separates" in visit.page.locator(".answer").inner_text(), "no proof")
    assert len(visit.data("meeting")["x"]) == 1
    visit.page.mouse.move(*visit.place(-1.0, -0.9))
    visit.page.mouse.down()
    visit.page.mouse.move(*visit.place(0.9, 1.2), steps=8)
    visit.page.mouse.up()
    visit.until(lambda: visit.data("points")["x"][-1] > 0.5, "it was not dragged")
    visit.until(lambda: "Linearly separable" in visit.page.locator(".answer").inner_text(), "still a proof")
    visit.tap(0.9, 1.2)
    visit.page.get_by_role("button", name="class 3").click()
    visit.press("recolor")
    visit.until(lambda: visit.data("points")["code"][-1] == "2", "not recoloured")
    visit.press("delete")
    visit.until(lambda: len(visit.data("points")["x"]) == count, "not deleted")
    for k, codes in enumerate(("2", "1", "1")):
        visit.press("undo")
        visit.until(lambda codes=codes: visit.data("points")["code"][-1] == codes, f"undo {k}")
    visit.until(lambda: visit.data("points")["x"][-1] < 0, "the first place")


def test_it_plays_pauses_and_comes_to_its_end(visit):
    visit.press("play")
    visit.until(lambda: visit.step() >= 3, "it does not play")
    assert len(visit.data("corrected")["x"]) == 1
    visit.press("pause")
    visit.page.wait_for_timeout(600)
    paused = visit.step()
    visit.page.wait_for_timeout(600)
    assert visit.step() == paused
    visit.press("one epoch")
    visit.until(lambda: visit.step() > paused, "no epoch")
    visit.press("to the end")
    visit.until(lambda: "Converged" in visit.page.locator("table.course").inner_text(), "no end")
    assert re.search(r"Perceptron\s+\d+ / \d+\s+0\s", visit.page.locator("table.course").inner_text())
    visit.press("one back")
    visit.press("restart")
    visit.until(lambda: visit.step() == 0, "no restart")


def test_a_perceptron_cycles_on_inseparable_points_while_the_proof_stands(visit):
    visit.page.get_by_label("points").select_option("XOR")
    visit.until(lambda: "convex hulls meet" in visit.page.locator(".answer").inner_text(), "no proof")
    assert visit.page.get_by_label("points").input_value() == "XOR"
    visit.press("play")
    visit.until(lambda: visit.step() > 4, "it does not play")
    first = visit.data("boundary 1")
    visit.until(lambda: visit.data("boundary 1") != first, "it came to rest")
    visit.press("pause")
    visit.page.get_by_label("features").select_option("with squares and products (phi)")
    visit.press("to the end")
    visit.until(lambda: "Converged" in visit.page.locator("table.course").inner_text(), "phi does not separate")


def test_kernels_and_several_separators(visit):
    visit.page.get_by_label("points").select_option("iris, petals")
    visit.until(lambda: len(visit.data("points")["x"]) == 150, "no iris")
    table = visit.page.locator("table.course")
    visit.page.get_by_label("separator", exact=True).select_option("KernelMaxMargin")
    visit.until(lambda: "KernelMaxMargin" in table.inner_text(), "no kernel")
    visit.press("+ another separator")
    visit.until(lambda: "\nMaxMargin" in table.inner_text(), "no second separator")
    visit.press("one update")
    visit.until(lambda: visit.data("boundary 1")["xs"] and visit.data("boundary 2")["xs"], "no boundaries")
    visit.page.get_by_text("parameters of KernelMaxMargin").click()
    visit.page.get_by_label("C", exact=True).first.fill("-1")
    visit.page.keyboard.press("Enter")
    visit.until(lambda: visit.page.locator(".error").count(), "a bad parameter is not shown")
    assert "parameter" in visit.page.locator(".error").first.inner_text()


def test_files_good_and_bad(visit, tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    lines = [f"{k},{k % 4},{k % 3},{'<b>yes</b>' if k > 20 else 'no'}" for k in range(40)]
    good.write_text("\n".join(["a,b,c,label", *lines]))
    bad.write_bytes(b"\x00\x01\x02" * 50)
    visit.page.locator("input[type=file]").set_input_files(bad)
    visit.until(lambda: visit.page.locator(".error").count(), "no complaint")
    assert "bad.csv" in visit.page.locator(".error").first.inner_text()
    visit.page.locator("input[type=file]").set_input_files(good)
    visit.until(lambda: len(visit.data("points")["x"]) == 40, "no points")
    assert "projected" in visit.page.locator(".error").first.inner_text()
    assert visit.page.get_by_label("labels").input_value() == "label"
    visit.page.get_by_role("button", name="<b>yes</b>").click()  # the classes have their names, and names stay text
    assert visit.page.get_by_label("points").input_value() == "(your own)"
    visit.page.get_by_label("across").select_option("a")
    visit.page.get_by_label("up", exact=True).select_option("b")
    visit.until(lambda: visit.data("points")["x"][-1] == 39, "not the columns")
    visit.until(lambda: visit.page.locator(".answer").count(), "no answer")


def test_two_windows_know_nothing_of_each_other_and_a_link_shares(visit, browser, address):
    other = Visit(browser, address)
    visit.page.get_by_label("points").select_option("rings")
    visit.until(lambda: len(visit.data("points")["x"]) == 48, "no rings")
    visit.press("one update")
    visit.until(lambda: visit.step() == 1, "no step")
    visit.page.wait_for_timeout(500)
    assert len(other.data("points")["x"]) == 28
    assert other.step() == 0
    visit.until(lambda: "?s=" in visit.page.url, "no link")
    shared = Visit(browser, visit.page.url)
    shared.until(lambda: shared.step() == 1, "the link has not the step")
    assert shared.data("points") == visit.data("points")
    shared.until(lambda: shared.data("boundary 1") == visit.data("boundary 1"), "another boundary")
    shared.close()
    other.close()
    broken = Visit(browser, address + "?s=nonsense")
    broken.until(lambda: broken.page.locator(".error").count(), "a broken link is not shown")
    broken.close()


def test_it_is_right_on_a_telephone_in_the_dark(browser, address):
    narrow = Visit(browser, address, viewport={"width": 390, "height": 800}, color_scheme="dark", has_touch=True)
    narrow.page.wait_for_function("document.documentElement.scrollWidth <= 390")
    colour = narrow.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", colour)[:3])) < 150
    for name, dark in (("undo", True), ("class 2", True), ("class 1", False)):  # the chosen class stands out
        button = narrow.page.get_by_role("button", name=name)
        colour = button.evaluate("(e) => getComputedStyle(e).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", colour)[:3])) < 150) == dark
    count = len(narrow.data("points")["x"])
    narrow.page.touchscreen.tap(*narrow.place(0.0, 1.9))
    narrow.until(lambda: len(narrow.data("points")["x"]) == count + 1, "a finger adds no point")
    narrow.close()


def test_pages_of_others_cannot_speak_to_it(address):
    host = address.split("/")[2]
    for origin, status in (("http://evil.example", 403), (address.rstrip("/"), 101)):
        connection = http.client.HTTPConnection(host, timeout=10)
        headers = {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            "Origin": origin,
        }
        connection.request("GET", "/ws", headers=headers)
        answer = connection.getresponse()
        assert (answer.status == 403) == (status == 403)
        connection.close()

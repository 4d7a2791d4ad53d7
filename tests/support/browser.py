"""A real browser without a window, for tests of pages: Chromium, driven by its own driver."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

NO_BROWSER = "no Chromium with its driver here: apt-get install chromium chromium-driver"

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


def find_programs() -> tuple[str, str] | None:
    """Return the browser and its driver, or None."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver") or shutil.which("/usr/lib/chromium/chromedriver")
    return (browser, driver) if browser and driver else None


class Browser:
    """Opens files, and tells what the page asked for and complained about."""

    def __init__(self, programs: tuple[str, str], profile: Path) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location, driver = programs
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))

    def open(self, page: Path, *, scheme: str = "light", width: int = 1100) -> None:
        """Open a file as somebody with a window of this width and this taste would."""
        self.drain()
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.command("Emulation.setEmulatedMedia", features=features)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.command("Emulation.setDeviceMetricsOverride", **size)
        self.driver.get(page.as_uri())

    def command(self, name: str, **parameters: Any) -> dict[str, Any]:
        """Send a command of the DevTools protocol."""
        answer: dict[str, Any] = self.driver.execute_cdp_cmd(name, parameters)
        return answer

    def run(self, script: str) -> Any:
        """Run a script in the page, from outside it."""
        return self.driver.execute_script(script)

    def drain(self) -> None:
        """Forget what was logged."""
        self.complaints()
        self.requests()

    def complaints(self) -> list[str]:
        """What the console shows since last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since last asked, apart from the browser's own first page."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith("chrome")]

    def quit(self) -> None:
        """End the browser."""
        self.driver.quit()

"""A real PostgreSQL server on loopback, in a folder of its own, for as long as a test session lasts."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

NO_SERVER = "PostgreSQL's server programs are not installed and could not be: run 'make services' as root"


def find_programs() -> Path | None:
    """Return the folder with initdb and pg_ctl, or None."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = shutil.which("initdb")
    if on_path:
        places.append(Path(on_path).resolve().parent)
    return next((place for place in places if (place / "initdb").exists() and (place / "pg_ctl").exists()), None)


class Server:
    """One cluster with one database, ``tacit``; durable as a production server is."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._user = "postgres" if os.geteuid() == 0 else None
        self._folder = Path(tempfile.mkdtemp(prefix="tacit-pg-", dir="/tmp"))
        if self._user:
            os.chown(self._folder, pwd.getpwnam(self._user).pw_uid, -1)
        self._data = self._folder / "data"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._run("initdb", "-D", str(self._data), "-U", "tacit", "-A", "trust", "--no-instructions")
        self.start()
        self.create("tacit")

    @property
    def url(self) -> str:
        return f"postgresql://tacit@127.0.0.1:{self.port}/tacit"

    def start(self) -> None:
        options = f"-h 127.0.0.1 -p {self.port} -k {self._folder} -c fsync=on -c max_connections=60"
        log = str(self._folder / "log")
        for _ in range(20):
            with contextlib.suppress(subprocess.CalledProcessError):
                self._run("pg_ctl", "-D", str(self._data), "-w", "-l", log, "-o", options, "start")
                return
            time.sleep(0.5)  # after a crash the old shared memory takes a moment to go
        raise RuntimeError(Path(log).read_text())

    def create(self, database: str) -> str:
        """Make a fresh database and return its URL."""
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "tacit", database)
        return f"postgresql://tacit@127.0.0.1:{self.port}/{database}"

    def kill(self) -> None:
        """Kill -9 every process of the server at once."""
        main = int((self._data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        for process in [main, *map(int, children)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def stop(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self._run("pg_ctl", "-D", str(self._data), "-m", "immediate", "stop")
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            check=True,
            user=self._user,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )

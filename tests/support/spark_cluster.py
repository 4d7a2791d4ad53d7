"""A real Spark standalone cluster on the loopback interface: one master, two workers, each a process of its own."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOPBACK = "127.0.0.1"
STARTING = 90.0
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:CICompilerCount=1"


def missing() -> str | None:
    """Say why there can be no cluster here, or None."""
    if find_spec("pyspark") is None:
        return 'pyspark is not installed: pip install "tacit[spark]"'
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "no Java on this machine: Spark 4 needs version 17 or newer"
    return None


class Cluster:
    """Starts the daemons, makes sessions, and can kill a worker together with its executors."""

    def __init__(self, workers: int = 2, *, executor_memory: str = "512m", driver_memory: str = "768m") -> None:
        self._home = Path(tempfile.mkdtemp(prefix="tacit-spark-"))
        self._executor_memory = executor_memory
        self._driver_memory = driver_memory
        self._port = _free_port()
        self._environment = os.environ | {
            "SPARK_HOME": str(_spark_home()),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_DAEMON_MEMORY": "192m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK_START,
            "SPARK_LOCAL_DIRS": str(self._home / "scratch"),
            "SPARK_LOG_DIR": str(self._home),
        }
        address = ["--host", LOOPBACK, "--webui-port", "0"]
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            self._start("master", "master.Master", [*address, "--port", str(self._port)])
            self._wait("master", "I have been elected leader")
            for number in range(workers):
                self.add_worker(number)
            for number in range(workers):
                self._wait(f"worker{number}", "Successfully registered with master")
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        """The address of the master."""
        return f"spark://{LOOPBACK}:{self._port}"

    @property
    def workers(self) -> list[subprocess.Popen[bytes]]:
        """The workers' processes."""
        return self._processes[1:]

    def add_worker(self, number: int) -> None:
        """Start one more worker, with one core."""
        place = ["--cores", "1", "--memory", "1g", "--work-dir", str(self._home / f"work{number}")]
        arguments = ["--host", LOOPBACK, "--webui-port", "0", *place, self.url]
        self._start(f"worker{number}", "worker.Worker", arguments)

    def session(self, name: str = "tacit") -> SparkSession:
        """Open a session whose driver is this process."""
        from pyspark.sql import SparkSession

        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
        settings = {
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            "spark.driver.memory": self._driver_memory,
            "spark.executor.memory": self._executor_memory,
            "spark.executor.cores": "1",
            "spark.driver.extraJavaOptions": "-XX:+UseSerialGC",
            "spark.executor.extraJavaOptions": "-XX:+UseSerialGC",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(self._home / "warehouse"),
            "spark.local.dir": str(self._home / "scratch"),
            "spark.log.level": "ERROR",
        }
        builder = SparkSession.builder.master(self.url).appName(name)
        for key, value in settings.items():
            builder = builder.config(key, value)
        return builder.getOrCreate()

    def kill_worker(self, number: int) -> None:
        """Kill a worker and its executors as a power cut would: SIGKILL, no farewell."""
        worker = self.workers[number]
        victims = [worker.pid, *_children(worker.pid)]
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        worker.wait()

    def stop(self) -> None:
        """Stop every process that this cluster started, and remove its files."""
        for process in reversed(self._processes):
            children = _children(process.pid) if process.poll() is None else []
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for pid in children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self._home, ignore_errors=True)

    def _start(self, name: str, daemon: str, arguments: list[str]) -> None:
        command = [str(_spark_home() / "bin" / "spark-class"), f"org.apache.spark.deploy.{daemon}", *arguments]
        with (self._home / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=self._environment, cwd=self._home)
        self._processes.append(process)

    def _wait(self, name: str, sign: str) -> None:
        log = self._home / f"{name}.log"
        end = time.monotonic() + STARTING
        while sign not in log.read_text(errors="replace"):
            if time.monotonic() > end or any(process.poll() is not None for process in self._processes):
                raise RuntimeError(f"The Spark {name} did not start:\n{log.read_text(errors='replace')[-2000:]}")
            time.sleep(0.05)


def _spark_home() -> Path:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def _children(parent: int) -> list[int]:
    """The processes that a process started, read from /proc."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == parent:
                    found.append(int(entry.name))
    return found


def cpu_seconds(parent: int) -> float:
    """Processor time of all living processes that a process started, and of those they started."""
    total = 0.0
    for child in _children(parent):
        with contextlib.suppress(OSError, IndexError):
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        total += cpu_seconds(child)
    return total

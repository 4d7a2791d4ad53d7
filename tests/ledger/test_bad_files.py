"""Files and servers in trouble: a clear error with a remedy, nothing charged and nothing lost."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit import (
    Budget,
    Ledger,
    LedgerError,
    LedgerVersionError,
    MissingExtraError,
    ParameterError,
    TacitError,
    TamperedLedgerError,
)
from tacit.cli import main
from tests.ledger.test_contract import request
from tests.support import postgres


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 160 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160k", "none", place], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root: " + mounted.stderr.decode().strip())
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "ledger.db").write_bytes(b"these are not the bytes of a database" * 100)
    with pytest.raises(LedgerError, match=r"not a database.*restore it from a backup"):
        Ledger.open(f"sqlite:///{tmp_path}/ledger.db")


def test_a_damaged_ledger(tmp_path: Path) -> None:
    file = tmp_path / "ledger.db"
    with Ledger.open(f"sqlite:///{file}") as ledger:
        account = ledger.account("survey", budget=Budget(1000))
        for number in range(200):
            account.charge(request(1.0, f"q{number}"))
    size = file.stat().st_size
    with file.open("r+b") as raw:
        raw.seek(size // 2)
        raw.write(os.urandom(size // 4))
    assert not is_sound(f"sqlite:///{file}")


def edited(file: Path, statement: str) -> Ledger:
    """A ledger with one charge and its release, edited from outside by somebody who removed the guards."""
    url = f"sqlite:///{file}"
    with Ledger.open(url) as ledger:
        account = ledger.account("survey", budget=Budget(1.0))
        account.store(account.charge(request(0.25)), 0, "", b"released")
    connection = sqlite3.connect(file)
    for table in ("entries", "releases"):
        for verb in ("update", "delete"):
            connection.execute(f"DROP TRIGGER tacit_{table}_no_{verb}")
    connection.execute(statement)
    connection.commit()
    connection.close()
    return Ledger.open(url)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE tacit_accounts SET head_seq = 'x'",
        "UPDATE tacit_accounts SET head_seq = 0",
        "DELETE FROM tacit_accounts",
        "UPDATE tacit_entries SET seq = 'x' WHERE seq = 2",
        "UPDATE tacit_releases SET payload = 'text'",
        "UPDATE tacit_releases SET payload = 1000000000000",
    ],
)
def test_an_edit_of_any_column_is_noticed(tmp_path: Path, statement: str) -> None:
    with edited(tmp_path / "ledger.db", statement) as ledger:
        (verdict,) = ledger.verify()
    assert (verdict.account, verdict.ok) == ("survey", False)


def test_an_account_whose_head_was_taken_back_is_not_unknown(tmp_path: Path) -> None:
    ledger = edited(tmp_path / "ledger.db", "UPDATE tacit_accounts SET head_seq = 0")
    with pytest.raises(TamperedLedgerError, match="changed from outside"):
        ledger.account("survey")


@pytest.mark.parametrize("name", ["format", "secret"])
@pytest.mark.parametrize("value", ["''", "'abc'", "X'ff'"])
def test_a_ledger_without_its_format_or_secret(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(LedgerError, match=f"damaged: it lacks its '{name}'"):
        edited(tmp_path / "ledger.db", f"UPDATE tacit_meta SET value = {value} WHERE name = '{name}'")


def test_a_description_of_tables_that_is_no_text(tmp_path: Path) -> None:
    """SQLite quotes the damage in its message, which Python then cannot read."""
    file = tmp_path / "ledger.db"
    Ledger.open(f"sqlite:///{file}").close()
    file.write_bytes(file.read_bytes().replace(b"tacit_meta (name", b"tacit_meta \xf5name"))
    with pytest.raises(LedgerError, match=r"malformed.*restore it from a backup"):
        Ledger.open(f"sqlite:///{file}")


def is_sound(url: str) -> bool:
    try:
        with Ledger.open(url) as ledger:
            return all(verdict.ok for verdict in ledger.verify())
    except LedgerError:
        return False


def test_a_database_of_something_else(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE customers (name TEXT)")
    other.close()
    with pytest.raises(LedgerError, match="not a tacit ledger"):
        Ledger.open(f"sqlite:///{tmp_path}/other.db")


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"does not exist\. Create it first"):
        Ledger.open(f"sqlite:///{tmp_path}/no/such/ledger.db")


@pytest.mark.parametrize("url", [":memory:", "sqlite://", "sqlite:///:memory:"])
def test_usual_names_for_memory(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Ledger.open(url).url == "memory"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("url", ["ledger.db", "sqlite:///", "mysql://host/db", 7, ""])
def test_an_unknown_kind_of_url(url: object) -> None:
    with pytest.raises(ParameterError, match=r"'url' parameter of Ledger.open.*sqlite:///file.db"):
        Ledger.open(url)  # type: ignore[arg-type]


def test_a_newer_ledger(new_durable_url: Callable[[], str]) -> None:
    url = new_durable_url()
    with Ledger.open(url) as ledger:
        ledger.account("survey", budget=Budget(1.0))
        ledger._store.execute("UPDATE tacit_meta SET value = '99' WHERE name = 'format'")
    with pytest.raises(LedgerVersionError, match=r"format 99.*Upgrade tacit"):
        Ledger.open(url)


def test_a_read_only_disk(small_disk: Path) -> None:
    url = f"sqlite:///{small_disk}/ledger.db"
    with Ledger.open(url) as ledger:
        ledger.account("survey", budget=Budget(1.0)).charge(request(0.25, "before"))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with Ledger.open(url) as ledger:
        account = ledger.account("survey")
        with pytest.raises(LedgerError, match=r"read-only.*Nothing was charged"):
            account.charge(request(0.25, "after"))
        assert account.spent == Budget(0.25)
        with pytest.raises(LedgerError, match="read-only"):
            ledger.account("other", budget=Budget(1.0))


def test_a_full_disk(small_disk: Path) -> None:
    ledger = Ledger.open(f"sqlite:///{small_disk}/ledger.db")
    account = ledger.account("survey", budget=Budget(1000))

    def fill() -> None:
        for number in range(10_000):
            account.charge(request(1.0, f"q{number}" + "x" * 500))

    with pytest.raises(LedgerError, match=r"full.*Free some space"):
        fill()
    made = len(account.entries())
    assert made > 10
    assert account.spent == Budget(made)
    (verdict,) = ledger.verify()
    assert verdict.ok
    subprocess.run(["mount", "-o", "remount,size=4m", small_disk], check=True)
    account.charge(request(1.0, "after space was made"))
    assert account.spent == Budget(made + 1)
    ledger.close()


def test_a_file_size_limit(tmp_path: Path) -> None:
    """Like a full disk, but without root: the write itself fails."""
    script = (
        "import resource, signal, sys\n"
        "from tacit import Budget, Ledger, LedgerError\n"
        "from tests.ledger.test_contract import request\n"
        "account = Ledger.open(sys.argv[1]).account('survey', budget=Budget(10000))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, resource.RLIM_INFINITY))\n"
        "made = 0\n"
        "try:\n"
        "    for number in range(10_000):\n"
        "        account.charge(request(1.0, f'q{number}' + 'x' * 500)); made += 1\n"
        "except LedgerError as error:\n"
        "    print(made, error)\n"
    )
    url = f"sqlite:///{tmp_path}/ledger.db"
    done = subprocess.run([sys.executable, "-c", script, url], capture_output=True, text=True, timeout=120)
    made, _, message = done.stdout.partition(" ")
    assert "Free some space" in message, done.stderr
    account = Ledger.open(url).account("survey")
    assert account.spent == Budget(int(made))
    account.charge(request(1.0, "after the limit is gone"))


def test_an_unreachable_server_is_named_without_the_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(LedgerError, match=r"postgresql://127.0.0.1:1/x cannot be reached.*server runs") as caught:
        Ledger.open("postgresql://user:secret@127.0.0.1:1/x")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:sec@ret@127.0.0.1:1/x",
        "postgresql://user:sec/ret@127.0.0.1:1/x",
        "postgresql://user:sec%ret@127.0.0.1:1/x",
        "postgresql://user:sec%@127.0.0.1:1/x",
        "postgresql://user:sec:ret@127.0.0.1:port/x",
        "postgresql://127.0.0.1:1/x?user=me&password=sec%ret",
        "postgresql://user:sec@[::1/x",
        "postgresql://user:sec%ff@127.0.0.1:1/x",
    ],
)
def test_an_address_that_cannot_be_read_is_not_told(url: str) -> None:
    """libpq says aloud what it cannot read, which may be a piece of the password."""
    pytest.importorskip("psycopg")
    with pytest.raises(TacitError) as caught:
        Ledger.open(url)
    assert "sec" not in str(caught.value)
    assert "%" in str(caught.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://user:sec#r?t:@127.0.0.1:1/x?connect_timeout=2", "postgresql://127.0.0.1:1/x"),
        ("postgresql://user:sec%40@127.0.0.1:1,127.0.0.1:2/x", "postgresql://127.0.0.1:1,127.0.0.1:2/x"),
        ("postgresql://[::1]:1/x", "postgresql://[::1]:1/x"),
    ],
)
def test_addresses_as_libpq_reads_them(url: str, shown: str) -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(LedgerError, match=f"ledger at {re.escape(shown)} cannot be reached") as caught:
        Ledger.open(url)
    assert "sec" not in str(caught.value)


def test_the_default_ledger_is_shown_without_its_password(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("TACIT_LEDGER", "postgresql://user:sec%40ret@host/x")
    for command in (["ledger", "list"], ["run"]):
        with pytest.raises(SystemExit):
            main([*command, "--help"])
        text = capsys.readouterr().out
        assert "sec" not in text
        assert "user@host" in text


def test_signs_that_are_no_text_are_refused_and_nothing_is_charged(new_durable_url: Callable[[], str]) -> None:
    with Ledger.open(new_durable_url()) as ledger:
        account = ledger.account("survey", budget=Budget(1.0))
        for act in (
            lambda: ledger.account("\udcff", budget=Budget(1.0)),
            lambda: account.raise_budget(Budget(2.0), reason="\udcff"),
            lambda: account.spend(Budget(0.5), mechanism="\udcff", query="x"),
            lambda: account.split("\udcff", ["a", "b"]),
        ):
            with pytest.raises(LedgerError, match=r"no valid text.*Nothing was charged"):
                act()
        with pytest.raises(ParameterError, match="'mechanism'"):
            account.spend(Budget(0.5), mechanism=7, query="x")  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="'budget'"):
            account.raise_budget(2.0, reason="more")  # type: ignore[arg-type]
        for parts in (None, 3, "ab", ["a"]):
            with pytest.raises(ParameterError, match="'name, parts'"):
                account.split("name", parts)  # type: ignore[arg-type]
        assert [verdict.entries for verdict in ledger.verify()] == [1]
    for url in ("sqlite:///a\x00b.db", "sqlite:///\ud800.db"):
        with pytest.raises(ParameterError, match="'url'"):
            Ledger.open(url)


def test_a_user_who_may_not_write(server: postgres.Server) -> None:
    url = server.create("rights")
    with Ledger.open(url) as ledger:
        ledger.account("survey", budget=Budget(1.0))
        ledger._store.execute("DROP ROLE IF EXISTS reader")
        ledger._store.execute("CREATE ROLE reader LOGIN")
        ledger._store.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        with Ledger.open(url.replace("tacit@", "reader@")) as reader:
            account = reader.account("survey")
            assert account.remaining == Budget(1.0)
            with pytest.raises(LedgerError, match=r"may not write.*Nothing was charged"):
                account.charge(request(0.25))
        ledger._store.execute("DROP OWNED BY reader")
        ledger._store.execute("DROP ROLE reader")


def test_postgresql_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tacit\[postgres\]'"):
        Ledger.open("postgresql://user@127.0.0.1:1/x")


def test_an_in_memory_ledger_ends_when_it_is_closed() -> None:
    with Ledger.open() as ledger:
        account = ledger.account("survey", budget=Budget(1.0))
    for use in (lambda: account.spent, lambda: account.charge(request(0.5)), lambda: Ledger.accounts(ledger)):
        with pytest.raises(LedgerError, match=r"was closed.*Nothing was charged"):
            use()
    ledger.close()


def test_a_forked_process_may_not_spend_from_memory() -> None:
    script = (
        "import os\n"
        "from tacit import Budget, Ledger, LedgerError\n"
        "account = Ledger.open().account('survey', budget=Budget(1.0))\n"
        "if os.fork() == 0:\n"
        "    try:\n"
        "        account.spent\n"
        "    except LedgerError as error:\n"
        "        print(error, flush=True)\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "another process would spend the same budget again" in done.stdout, done.stderr


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    """It holds the secret under which requests are hashed. Whoever shares it on purpose may do so."""
    before = os.umask(0)
    try:
        with Ledger.open(f"sqlite:///{tmp_path}/l.db") as ledger:
            ledger.account("a", budget=Budget(1.0))
    finally:
        os.umask(before)
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o640)
    with Ledger.open(f"sqlite:///{file}") as ledger:
        ledger.account("a").spend(Budget(0.5), mechanism="m", query="q")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640

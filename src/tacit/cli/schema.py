"""``tacit schema``: write a first public description, and check one."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tacit.cli import common
from tacit.errors import bad_parameter


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tacit schema`` to the command line."""
    parser = commands.add_parser("schema", help="describe data in public words")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    text = "write a first schema, with comments on what to fill in"
    draft = verbs.add_parser("draft", help=text, description=text)
    draft.add_argument("file", nargs="?", metavar="FILE", help="a data file; its column names alone are read")
    draft.add_argument("--public", action="store_true", help="the file may be seen by anybody: look into its rows too")
    draft.add_argument("--columns", metavar="A,B,…", help="column names, instead of a file")
    draft.add_argument("--out", metavar="SCHEMA", help="write to this file (default: print)")
    common.add_files(draft)
    draft.set_defaults(run=_draft)

    text = "check a schema and list its features"
    show = verbs.add_parser("show", help=text, description=text)
    show.add_argument("schema", metavar="SCHEMA", help="a schema file")
    show.add_argument("--json", action="store_true", help="print JSON for machines")
    show.set_defaults(run=_show)


def _draft(arguments: argparse.Namespace) -> int:
    from tacit.data.draft import draft

    if (arguments.file is None) == (arguments.columns is None):
        raise bad_parameter("tacit schema draft", "FILE", "given, or --columns instead", arguments.file)
    if arguments.columns is not None:
        text = draft(common.words(arguments.columns), public=False)
    else:
        text = draft(arguments.file, public=arguments.public, options=common.file_options(arguments))
    if arguments.out is None:
        print(text.rstrip("\n"))
        return 0
    target = Path(arguments.out)
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        remedy = "Choose another name, or remove it first."
        raise bad_parameter(
            "tacit schema draft", "--out", "a file that does not exist yet", arguments.out, remedy
        ) from None
    except OSError as error:
        raise bad_parameter("tacit schema draft", "--out", f"writable ({error.strerror})", arguments.out) from None
    print(f"Wrote {target}. Read it through: what it says becomes public.")
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from tacit.data.schema import Schema

    schema = Schema.load(arguments.schema)
    facts = {
        "features": schema.n_features,
        "classes": list(schema.classes),
        "label": schema.label,
        "unit": str(schema.unit),
        "columns": {column.name: column.width for column in schema.columns},
    }
    if arguments.json:
        print(json.dumps(facts, ensure_ascii=False))
    else:
        print("\n".join(f"{key:>9}  {value}" for key, value in facts.items()))
    return 0

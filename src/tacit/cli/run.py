"""``tacit run``: from a file to a private model, its ROC curve and a report."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path
from typing import Any

from tacit.cli import common
from tacit.errors import bad_parameter

TEXT = "train a private model on a file, evaluate it privately, and write a report"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tacit run`` to the command line."""
    parser = commands.add_parser("run", help=TEXT, description=TEXT)
    parser.add_argument(
        "data", metavar="DATA", help="a file, a folder or a glob: CSV, TSV, Parquet, Arrow, JSON Lines, libsvm"
    )
    parser.add_argument("--label", metavar="COL", help="the column of labels (default: the schema's)")
    parser.add_argument("--classes", metavar="A,B", help="the labels, the positive one last (default: the schema's)")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--text", metavar="COL", help="the column of texts")
    kind.add_argument("--schema", metavar="FILE", help="the public description of a table: see 'tacit schema draft'")
    common.add_account(parser)
    common.add_files(parser)
    parser.add_argument("--test-size", type=float, default=0.3, metavar="F", help="share of the test set (%(default)s)")
    parser.add_argument("--engine", choices=["local", "spark"], default="local", help="default: %(default)s")
    words = "a language such as 'en': public frequencies of its words, and for English their tone"
    parser.add_argument("--word-list", metavar="LANG", help=words)
    text = "public texts of the same kind: a .txt file of lines, or a file with the column of --text"
    parser.add_argument("--public-text", metavar="FILE", help=text)
    parser.add_argument("--out", metavar="DIR", required=True, help="a folder that is new or empty")
    parser.add_argument("--strict", action="store_true", help="stop if there are odd rows, and tell which and where")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from tacit.report.files import write_result

    workflow = _workflow(arguments)
    with (
        common.interruptible(arguments.ledger, workflow.dataset),
        common.output_folder(arguments.out, "tacit run") as folder,
        common.progress(len(common.STEPS), quiet=arguments.json) as tell,
    ):
        result = workflow.run(arguments.data, progress=tell)
        files = [] if folder is None else write_result(result, folder)
    return common.show(arguments, common.run_facts(result, files), _text(result, arguments))


def _workflow(arguments: argparse.Namespace) -> Any:
    from tacit.data.schema import Schema
    from tacit.models.text import TextClassifier
    from tacit.workflow import Workflow

    schema = None if arguments.schema is None else Schema.load(arguments.schema)
    if schema is None and arguments.text is None:
        raise bad_parameter("tacit run", "--text", "given, or else --schema", None, "See 'tacit schema draft'.")
    if schema is None and arguments.label is None:
        raise bad_parameter("tacit run", "--label", "the name of the label's column", None)
    words, public = arguments.word_list, arguments.public_text
    if schema is not None and (words or public):
        name = "--word-list" if words else "--public-text"
        raise bad_parameter("tacit run", name, "left out where --schema is given", words or public)
    texts = None if public is None else _public_texts(public, arguments)
    return Workflow(
        arguments.epsilon,
        arguments.delta,
        classes=_classes(arguments, schema),
        label=arguments.label,
        text=arguments.text,
        schema=schema,
        unit=common.unit_of(arguments),
        classifier=TextClassifier(word_list=words, public_text=texts) if words or public else None,
        test_size=arguments.test_size,
        ledger=arguments.ledger,
        dataset=common.dataset_of(arguments),
        options=common.file_options(arguments),
        engine=arguments.engine,
        version=arguments.data_version,
        language=words or "en",
        strict=arguments.strict,
    )


def _public_texts(place: str, arguments: argparse.Namespace) -> Any:
    """Texts of public files: the lines of .txt files, or a column of others. The private data are no public texts."""
    import polars as pl

    from tacit.data.features import as_text
    from tacit.data.files import check_files, format_of, list_files, pieces, reading

    paths, column, options = list_files(place), arguments.text, common.file_options(arguments)
    if {path.resolve() for path in paths} & {path.resolve() for path in list_files(arguments.data)}:
        remedy = "What is learnt from private texts must be paid for."
        raise bad_parameter("tacit run", "--public-text", "other files than the private data", place, remedy)
    lines: list[str] = []
    for path in [path for path in paths if path.suffix == ".txt"]:
        with reading(path):
            lines += path.read_text(encoding="utf-8", errors="replace").split("\n")
    tables = [path for path in paths if path.suffix != ".txt"]
    if any(format_of(path, options) == "libsvm" for path in tables):
        expected = "lines of .txt files, or files with the column of --text"
        raise bad_parameter("tacit run", "--public-text", expected, place, "A libsvm file holds no texts.")
    check_files(tables, [column], options, by_content=True)
    found = (piece for path in tables for piece in pieces(path, [column], options, batch_rows=1 << 16, strict=None))
    texts = [pl.Series(column, [line for line in lines if line.strip()], dtype=pl.String)]
    return pl.concat([*texts, *(as_text(piece.frame[column], column) for piece in found)]).drop_nulls()


def _classes(arguments: argparse.Namespace, schema: Any) -> list[Any] | None:
    """The declared labels: never read from the data. Those of a schema's own column may be put into another order."""
    other = schema is not None and schema.label is not None and arguments.label not in (None, schema.label)
    if arguments.classes is None:
        if schema is None:
            remedy = "They are declared, never read from private data; the last one is positive."
            raise bad_parameter("tacit run", "--classes", "given, as in --classes ham,spam", None, remedy)
        return None if other else list(schema.classes)
    if schema is None or other:
        return labels_of(arguments.classes)
    names = common.words(arguments.classes)
    known = {str(label): label for label in schema.classes}
    strange = [name for name in names if name not in known]
    if strange:
        raise bad_parameter("tacit run", "--classes", f"among the schema's {list(known)}", ", ".join(strange))
    return [known[name] for name in names]


def labels_of(text: str) -> list[Any]:
    """The labels in A,B: numbers if all are, so that 1 stands for the 1.0 of a file as well; else texts."""
    names = common.words(text)
    numbers = [_number(name) for name in names]
    return names if None in numbers else numbers


def _number(name: str) -> float | None:
    """What is written as a number is one, unless it is too long."""
    for kind in (int, float):
        with suppress(ValueError):
            if str(kind(name)) == name and abs(kind(name)) < 2**53:
                return kind(name)
    return None


def _text(result: Any, arguments: argparse.Namespace) -> str:
    from tacit.scoring import is_of_matrices

    receipt = result.receipt
    cost = receipt["composition"]["sum"]
    folder = Path(arguments.out)
    use = f"with: tacit score {folder / 'model.json'} DATA --out FILE"
    if is_of_matrices(result.model):
        use = f"in Python: tacit.load({str(folder / 'model.json')!r}).predict_proba(matrix)"
    lines = [
        common.curve_line(result.curve),
        f"Cost {cost} ({receipt['status']}; the account {receipt['dataset']!r} is kept in {receipt['ledger']})",
        f"Open {folder / 'report.html'}; apply the model {use}",
    ]
    return "\n".join(lines)

"""Every way in which data can be wrong: a rule for rows by default, an error that names the place when strict."""

from __future__ import annotations

import codecs
import gzip
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tacit.data.bounding import Bounding
from tacit.data.errors import DataError, RowError, SchemaError, SourceError
from tacit.data.files import FileOptions, pieces, reading_of
from tacit.data.quantiles import column_histogram
from tacit.data.schema import CategoryColumn, NumberColumn, Schema, TextColumn
from tacit.data.sources import open_source
from tacit.data.sparse import check_matrix
from tacit.data.statistics import count
from tacit.desk.parts import read_columns
from tacit.errors import TacitError
from tacit.privacy._seal import open_exact
from tacit.privacy.unit import Unit

COLUMNS = (
    TextColumn("text", bits=6),
    CategoryColumn("colour", ("red", "blue")),
    NumberColumn("age", (0.0, 50.0, 100.0)),
)
SCHEMA = Schema(COLUMNS, classes=("no", "yes"), label="y", missing=("", "?"))
HEADER = "y,text,colour,age\n"
GOOD = "no,hello world,red,10\n"
SECRET = "s3cr3t"


def labels(path: Path, schema: Schema = SCHEMA, **options) -> list[int]:
    counts = count(open_source(path, schema, **options), Bounding(9, schema.unit, seed=0), jobs=1)
    return open_exact(counts.labels).tolist()


def features(path: Path, schema: Schema = SCHEMA, **options) -> np.ndarray:
    return open_exact(count(open_source(path, schema, **options), Bounding(9, schema.unit, seed=0), jobs=1).features)


def strict_error(path: Path, schema: Schema = SCHEMA, **options) -> RowError:
    with pytest.raises(RowError) as caught:
        labels(path, schema, strict=True, **options)
    error = caught.value
    assert error.file == str(path)
    assert str(path) in str(error)
    assert f"line {error.line}" in str(error)
    assert SECRET not in str(error)
    assert error.__cause__ is None
    return error


@pytest.fixture
def csv_file(tmp_path: Path):
    def write(*rows: str | bytes, name: str = "data.csv", header: str = HEADER) -> Path:
        path = tmp_path / name
        path.write_bytes(b"".join(row if isinstance(row, bytes) else row.encode() for row in (header, *rows)))
        return path

    return write


def test_a_label_outside_the_classes_drops_the_row(csv_file) -> None:
    path = csv_file(GOOD, f"{SECRET},hello,red,10\n", ",hello,red,10\n", GOOD)
    assert labels(path) == [2, 0]
    error = strict_error(path)
    assert (error.line, error.column) == (3, "y")


def test_a_value_that_is_not_declared_becomes_other(csv_file) -> None:
    path = csv_file(GOOD, f"yes,hello,{SECRET},10\n", "yes,hello,?,10\n")
    assert features(path)[1, 64:68].tolist() == [0, 0, 1, 1]
    error = strict_error(path)
    assert (error.line, error.column) == (3, "colour")


def test_a_number_outside_its_bounds_goes_to_the_nearest_bin(csv_file) -> None:
    path = csv_file("yes,a,red,-1e9\n", "yes,a,red,1e9\n", "yes,a,red,inf\n", "yes,a,red,-Inf\n", "yes,a,red,100\n")
    assert features(path)[1, 68:].tolist() == [2, 3, 0]
    error = strict_error(path)
    assert (error.line, error.column) == (2, "age")


@pytest.mark.parametrize("value", [SECRET, "nan", "1_000", "0x10", "1e", "1f", "١٢", "--3", "1 2"])
def test_what_is_not_a_number_is_missing(csv_file, value: str) -> None:
    path = csv_file(f"yes,a,red,{value}\n")
    assert features(path)[1, 68:].tolist() == [0, 0, 1]
    error = strict_error(path)
    assert (error.line, error.column) == (2, "age")


def test_decimal_commas_are_read_where_they_are_declared(csv_file, tmp_path: Path) -> None:
    column = NumberColumn("age", (0.0, 50.0, 100.0), decimal=",")
    schema = replace(SCHEMA, columns=(column,), missing=("", "9,9"))
    texts = ["3,14", "70,5", "70.5", "1.070,5", "1,2,3", "9,9", ",", "7e1", "-3,5"]
    path = csv_file(*(f'yes,a,red,"{text}"\n' for text in texts))
    assert features(path, schema)[1].tolist() == [2, 3, 4]
    assert features(path, replace(schema, columns=(NumberColumn("age", (0.0, 50.0, 100.0)),)))[1].tolist() == [0, 2, 7]
    jsonl = tmp_path / "d.jsonl"
    jsonl.write_text('{"y": "yes", "age": "3,14"}\n{"y": "yes", "age": 70.5}\n')
    assert features(jsonl, schema)[1].tolist() == [1, 1, 0]
    for values in ([3.14, "70,5"], [3.14, 70.5], ["3,14", "70,5"]):  # whatever type stands beside it
        rows = open_source(pd.DataFrame({"age": values, "y": ["yes", "yes"]}), schema)
        assert [batch.indices.tolist() for batch in rows.rows()] == [[0, 1]]
    assert schema.digest != replace(schema, columns=(NumberColumn("age", (0.0, 50.0, 100.0)),)).digest
    assert Schema.from_toml(schema.to_toml()) == schema
    drawn = open_exact(column_histogram(path, schema, "age", cells=2, seed=0))
    assert drawn.tolist() == [2, 3, 4]
    with pytest.raises(SchemaError, match="'decimal' of 'age'"):
        NumberColumn("age", (0.0, 1.0), decimal=";")


def test_a_record_of_the_wrong_width_is_dropped(csv_file) -> None:
    path = csv_file(GOOD, f"yes,{SECRET}\n", '"yes","two\nlines",red,"10"\n', f"yes,{SECRET},red,10,11\n", GOOD)
    assert labels(path) == [2, 1]
    error = strict_error(path)
    assert error.line == 3
    later = csv_file(GOOD, '"yes","two\nlines",red,10\n', "\n", f"yes,{SECRET},red,10,11\n", name="later.csv")
    assert strict_error(later).line == 6


def test_lines_are_right_after_quoted_line_breaks(csv_file) -> None:
    path = csv_file('yes,"one\ntwo\n\nthree",red,10\n', "\n", f'"{SECRET}",a,red,10\n')
    assert strict_error(path).line == 7


def test_broken_utf8_separates_words(csv_file) -> None:
    path = csv_file(b"yes,good\xff\xfegood caf\xe9,red,10\n", b"\xff,a,red,10\n")
    assert features(path).sum(axis=1).tolist() == [0, 2 + 2]
    error = strict_error(path)
    assert (error.line, error.column) == (2, "text")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("column", range(5))
def test_an_open_quote_is_an_error_of_the_file(tmp_path: Path, column: int, packed: bool) -> None:
    fields = ["yes", "a", "red", "10", "extra"]
    fields[column] = f'"{SECRET}'
    text = "y,text,colour,age,unused\n" + "no,a,red,1,x\n" + ",".join(fields) + "\n" + "no,a,red,1,x\n" * 3
    path = tmp_path / "d.csv"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with pytest.raises(SourceError, match="never closed") as caught:
        labels(path)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("quote", ['"', ""])
def test_a_record_of_any_length_is_one(tmp_path: Path, quote: str, packed: bool) -> None:
    long = f"{quote}{'word ' * 2_000_000}{quote},yes\n"  # 10 MB: more than two blocks
    content = ("text,label\n" + "one,two,yes\n" + "short,no\n" * 10 + long + "one\n" + "short,yes\n" * 5).encode()
    path = tmp_path / ("long.csv.gz" if packed else "long.csv")
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    dropped: list[Path] = []
    options = FileOptions(quote='"' if quote else None)
    frames = [p.frame for p in pieces(path, ["label"], options, batch_rows=4, strict=None, dropped=dropped)]
    assert pl.concat(frames)["label"].to_list() == ["no"] * 10 + ["yes"] * 6
    assert len(dropped) == 2


@pytest.mark.parametrize("field", ["{}", '"{}"', '"{} ""so"" {}"'])
def test_a_long_record_of_the_wrong_width_is_dropped_as_a_short_one_is(csv_file, field: str) -> None:
    for times in (1, 50_000):
        path = csv_file(f"a,no\n{field.format('x y ' * times, 'z')},yes,yes\nb,yes\n", header="text,label\n")
        rows = open_source(path, Schema.text(("no", "yes"), bits=4, label="label")).checked().rows()
        assert sum(map(len, rows)) == 2


def test_a_quote_within_a_bare_field_opens_nothing(csv_file) -> None:
    path = csv_file(GOOD, 'no,5" pipe,red,10\n', 'no,5" pipe,red,10,11\n', "no,a,red,1\n", 'yes,b,red,"2\n"\n')
    assert labels(path) == [3, 1]


def test_missing_persons_are_dropped(csv_file) -> None:
    schema = Schema(COLUMNS, ("no", "yes"), label="y", unit=Unit.user("who", 1), missing=("", "?"))
    path = csv_file("no,a,red,10,ann\n", "no,a,red,10,?\n", "no,a,red,10, ann \n", header="y,text,colour,age,who\n")
    assert labels(path, schema) == [1, 0]
    error = strict_error(path, schema)
    assert (error.line, error.column) == (3, "who")


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    good = '{"y": "no", "text": "a", "colour": "red", "age": 10}\n'
    odd = '{"y": "no", "text": ["s3cr3t"], "colour": "red", "age": 10}\n'
    path.write_text(good + odd + f"not json {SECRET}\n\n[1]\n" + good.replace("10", "1e1") + '{"y": "no"}\n')
    assert labels(path) == [4, 0]
    assert features(path)[0, 64:].tolist() == [3, 0, 0, 1, 3, 0, 1]
    assert (strict_error(path).line, strict_error(path).column) == (2, "text")
    path.write_text(good + f"not json {SECRET}\n")
    assert strict_error(path).line == 2
    path.write_bytes(good.encode() + b'{"y": "no", "text": "\xff", "colour": "red", "age": 1}\n')
    assert strict_error(path).line == 2
    assert labels(path) == [2, 0]


@pytest.mark.parametrize("first", ['{"y": "no"}', "{}", "this is no JSON", "[1]", '{"other": 1}'])
def test_the_first_line_of_json_is_a_row_like_any_other(tmp_path: Path, first: str) -> None:
    """Which keys it has must not decide on an error: without it the file would be read."""
    good = '{"y": "yes", "text": "a", "colour": "red", "age": 10}\n'
    (tmp_path / "first.jsonl").write_text(f"{first}\n{good}")
    (tmp_path / "last.jsonl").write_text(f"{good}{first}\n")
    for measure in (labels, lambda path: features(path).tolist()):
        assert measure(tmp_path / "first.jsonl") == measure(tmp_path / "last.jsonl")
    error = strict_error(tmp_path / "first.jsonl")
    assert error.line == 1
    with pytest.raises(SourceError):
        list(read_columns(tmp_path / "first.jsonl", ["text"]))  # rows of the caller's own


def test_a_column_that_strict_json_lines_lack_is_named(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text('{"y": "no", "colour": "red", "age": 10}\n')
    error = strict_error(path)
    assert (error.line, error.column) == (1, "text")


def test_parquet_rows_are_counted_from_one(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    pl.DataFrame({"y": ["no", SECRET], "text": ["a", "b"], "colour": ["red", "red"], "age": [1, 2]}).write_parquet(path)
    assert labels(path) == [1, 0]
    assert strict_error(path).line == 2


def test_libsvm_strict(tmp_path: Path) -> None:
    schema = Schema.matrix(3, (-1, 1))
    path = tmp_path / "d.svm"
    for line, what in (("1 4:1", "index"), ("1 0:1", "index"), (f"1 {SECRET}", "format"), ("7 1:1", "classes")):
        path.write_text(f"1 1:1\n\n{line}\n")
        error = strict_error(path, schema)
        assert error.line == 3
        assert what in str(error)


def test_missing_columns(csv_file, tmp_path: Path) -> None:
    path = csv_file("no,a,10\n", header="y,text,age\n")
    with pytest.raises(SourceError, match="no column 'colour'") as caught:
        labels(path)
    assert caught.value.column == "colour"
    parquet = tmp_path / "d.parquet"
    pl.DataFrame({"y": ["no"]}).write_parquet(parquet)
    with pytest.raises(SourceError, match="no column 'text', 'colour', 'age'"):
        labels(parquet)
    with pytest.raises(SchemaError, match="no column 'text'"):
        open_source(pl.DataFrame({"y": ["no"]}), SCHEMA)


def test_a_name_that_is_nearly_right_is_told(csv_file, tmp_path: Path) -> None:
    frame = pl.DataFrame({"y": ["no"], "text": ["a"], "Colour ": ["red"], "ages": [1]})
    nearly = r"no column 'colour' \(is it 'Colour '\?\), 'age' \(is it 'ages'\?\)"
    frame.write_parquet(tmp_path / "d.parquet")
    with pytest.raises(SourceError, match=nearly) as caught:
        labels(tmp_path / "d.parquet")
    assert "header" not in str(caught.value), "Parquet has names in any case"
    for data in (frame, frame.to_arrow(), frame.to_pandas()):
        with pytest.raises(SchemaError, match=nearly):
            open_source(data, SCHEMA)


def test_the_first_line_of_a_delimited_file_may_be_a_row(csv_file) -> None:
    path = csv_file("", header=f"y,text,Colour,{SECRET} aged\n")
    with pytest.raises(SourceError, match=r"no column 'colour', 'age'\. ") as caught:
        labels(path)
    assert SECRET not in str(caught.value)
    assert "Colour" not in str(caught.value), "a name that is alike would be quoted from a row"


CHOSEN = {
    "another quote": ("d.tsv", "\t", FileOptions(quote="Z"), "Zoe has it"),
    "quotes in TSV": ("d.tsv", "\t", FileOptions(quote='"'), '"open'),
    "TSV read as CSV": ("d.tsv", "\t", FileOptions(format="csv", delimiter="\t"), '"open'),
    "another delimiter": ("d.csv", ";", FileOptions(delimiter=";"), '"open'),
    "no name": ("corpus", ",", FileOptions(format="csv"), '"open'),
    "by line": ("d.csv", ",", FileOptions(by_line=True), '"open'),
}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", CHOSEN)
def test_a_quote_that_is_chosen_and_left_open_costs_its_own_line_alone(name: str, end: str, tmp_path: Path) -> None:
    """Whoever asks chooses how a file is read: an error would tell that a row begins with a sign of the asker's."""
    file, comma, options, open_ = CHOSEN[name]
    quote = options.quote or '"'
    fields = [f"{quote}a{quote}", "b", f"{quote}a{comma}b {quote}{quote}c{quote}{quote}{quote}", "d"]
    rows = [f"no{comma}{field}" for field in fields] * 30
    schema, path, found = Schema.text(("no", "yes"), bits=6, label="y"), tmp_path / file, []
    for place in (None, 0, 50, 120):
        more = [*rows] if place is None else [*rows[:place], f"yes{comma}{open_}", *rows[place:]]
        path.write_bytes(end.join([f"y{comma}text", *more, ""]).encode())
        source = open_source(path, schema, options=options).checked()
        found.append(open_exact(count(source, Bounding(9, seed=1)).features).tolist())
        assert open_exact(count(source, Bounding(9, seed=1)).labels).tolist() == [120, 0]
        if place is not None:
            error = strict_error(path, schema, options=options)
            assert (error.line, "wrong number of fields" in str(error)) == (place + 2, True)
    assert all(counts == found[0] for counts in found)


def test_a_line_end_between_quotes_is_kept_where_the_name_says_csv(tmp_path: Path) -> None:
    schema = Schema.text(("no", "yes"), bits=6, label="y")
    for file, options, kept in (("d.csv", None, 2), ("d.txt", FileOptions(format="csv"), 1)):
        (tmp_path / file).write_text('y,text\nno,"a\nb"\nno,c\n')
        source = open_source(tmp_path / file, schema, options=options)
        assert open_exact(count(source, Bounding(9)).labels).tolist() == [kept, 0]
    assert reading_of(tmp_path / "d.csv") != reading_of(tmp_path / "d.txt", options), "other rows have another name"
    assert reading_of(tmp_path / "d.csv") == reading_of(tmp_path / "d.csv", options)


def test_a_column_that_is_there_twice() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["a", "b", "no"]], columns=["text", "text", "y"])
    with pytest.raises(SchemaError, match="two columns 'text'"):
        open_source(frame, Schema.text(("no", "yes"), label="y"))


@pytest.mark.parametrize("header", [None, ("y", "text", "colour", "age")])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_utf_16_is_named(tmp_path: Path, header: tuple[str, ...] | None, name: str) -> None:
    content = codecs.BOM_UTF16_BE + f"{HEADER}{GOOD}".encode("utf-16-be")
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(SourceError, match=r"UTF-16\. Write it in UTF-8"):
        labels(tmp_path / name, options=FileOptions(header=header))


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.csv.gz"])
def test_empty_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"")
    with pytest.raises(SourceError, match=r"empty \(0 bytes\)"):
        labels(path)


def test_no_rows_is_no_error(csv_file, tmp_path: Path) -> None:
    # The empty data set is the neighbour of every data set with one row: an error would tell them apart.
    assert labels(csv_file()) == [0, 0]
    for content in ("", "\n", "\n\n"):
        for name in ("d.jsonl", "d.csv", "d.tsv", "d.svm"):
            path = tmp_path / "no rows" / name
            path.parent.mkdir(exist_ok=True)
            for packed in (content.encode(), gzip.compress(content.encode())):
                path.write_bytes(packed)
                options = FileOptions(header=tuple(SCHEMA.names_needed)) if name in ("d.csv", "d.tsv") else None
                schema = Schema.matrix(3, ("no", "yes")) if name == "d.svm" else SCHEMA
                assert labels(path, schema, options=options) == [0, 0], (name, content)
    path = tmp_path / "d.parquet"
    pl.DataFrame({name: pl.Series([], dtype=pl.String) for name in SCHEMA.names_needed}).write_parquet(path)
    assert labels(path) == [0, 0]
    assert labels_of_frame(pl.DataFrame({name: [] for name in SCHEMA.names_needed})) == [0, 0]


def labels_of_frame(frame: pl.DataFrame) -> list[int]:
    return open_exact(count(open_source(frame, SCHEMA), Bounding(3)).labels).tolist()


def test_truncated_files(csv_file, tmp_path: Path) -> None:
    whole = gzip.compress((HEADER + GOOD * 1000).encode())
    path = tmp_path / "d.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SourceError, match="gzip"):
        labels(path)
    parquet = tmp_path / "d.parquet"
    pl.DataFrame({name: ["no"] * 100 for name in SCHEMA.names_needed}).write_parquet(parquet)
    parquet.write_bytes(parquet.read_bytes()[:-20])
    with pytest.raises(SourceError, match="Parquet"):
        labels(parquet)


def test_a_folder_with_mixed_schemas_is_refused_before_anything_is_read(csv_file, tmp_path: Path) -> None:
    csv_file(GOOD, name="a.csv")
    csv_file("no,a\n", header="y,text\n", name="b.csv")
    with pytest.raises(SourceError, match=r"b\.csv"):
        open_source(tmp_path, SCHEMA)


def test_unknown_files_and_empty_folders(csv_file, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no file, folder or match"):
        open_source(tmp_path / "nothing.csv", SCHEMA)
    with pytest.raises(SourceError, match="no file, folder or match"):
        open_source(str(tmp_path / "*.csv"), SCHEMA)
    with pytest.raises(SourceError, match="holds no files"):
        open_source(tmp_path, SCHEMA)
    path = csv_file(GOOD, name="data.xlsx")
    with pytest.raises(SourceError, match="format"):
        open_source(path, SCHEMA)
    assert labels(path, options=FileOptions(format="csv")) == [1, 0]


def test_a_header_with_a_name_twice(csv_file) -> None:
    with pytest.raises(SourceError, match="twice"):
        labels(csv_file(header="y,text,text,colour,age\n"))


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(b"\xef\xbb\xbf" + (HEADER + GOOD).encode())
    assert labels(path) == [1, 0]


def test_names_with_markup_and_line_breaks(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>\nsecond\x1b[31m"
    schema = Schema((CategoryColumn(name, ("<b>", "two\nlines")),), classes=("no", "yes"), label="y")
    frame = pl.DataFrame({"y": ["no"], name: ["two\nlines"]})
    path = tmp_path / "d.csv"
    frame.write_csv(path)
    assert features(path, schema)[0].tolist() == [0, 1, 0, 0]
    assert all("\n" not in shown and "\x1b" not in shown for shown in schema.feature_names())
    assert Schema.from_toml(schema.to_toml()) == schema


def test_frames_of_the_wrong_kind() -> None:
    with pytest.raises(SchemaError, match="type List"):
        count(
            open_source(pl.DataFrame({"text": [["a"]], "y": ["no"]}), Schema.text(("no", "yes"), label="y")),
            Bounding(1),
        )
    with pytest.raises(SchemaError, match="declares 1 columns"):
        open_source(np.eye(3), Schema.text((0, 1)), y=[0, 1, 1])
    with pytest.raises(SchemaError, match=r"Schema\.matrix"):
        check_matrix(np.eye(3), Schema.text((0, 1)))
    with pytest.raises(SchemaError, match="3 features"):
        open_source(np.eye(4), Schema.matrix(3, (0, 1)), y=[0, 1, 1, 0])
    with pytest.raises(SchemaError, match="pass them as y"):
        open_source(np.eye(3), Schema.matrix(3, (0, 1)))
    with pytest.raises(SchemaError, match="one label for each row"):
        open_source(np.eye(3), Schema.matrix(3, (0, 1)), y=[0])
    with pytest.raises(SchemaError, match="pass them as y"):
        open_source(["a"], Schema.text((0, 1)))
    with pytest.raises(RowError, match="line 2, column 'y'"):
        open_source(["a", "b"], Schema.text((0, 1)), y=[0, 2], strict=True)


def test_errors_are_ours_and_survive_pickling(csv_file) -> None:
    error = strict_error(csv_file(f"{SECRET},a,red,1\n"))
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, DataError)
    assert isinstance(again, TacitError)
    assert (str(again), again.file, again.line, again.column) == (str(error), error.file, error.line, error.column)


@pytest.mark.parametrize("name", ["data.csv", "data.tsv", "data.csv.gz"])
def test_a_record_of_the_wrong_width_in_broken_utf8_is_dropped(csv_file, name: str, capfd) -> None:
    """The library has no answer to it but an error, and words on the terminal: both would tell that it is there."""
    turned = (lambda text: text.replace(b",", b"\t")) if name.endswith("tsv") else (lambda text: text)
    odd = [turned(row) for row in (b"yes,a\xff\n", b"yes,too,many,1,\xe2\x82\n", b"yes,\xed\xa0\x80 a,red,10\n")]
    path = csv_file(turned(GOOD.encode()), *odd, name=name, header=turned(HEADER.encode()).decode())
    if name.endswith("gz"):
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert labels(path) == [1, 1]
    plain = csv_file(turned(GOOD.encode()), odd[2].replace(b"\xed\xa0\x80", b"?"), name=f"plain-{name[:8]}")
    if name.endswith("tsv"):
        plain.write_bytes(turned(plain.read_bytes()))
    assert (features(path) == features(plain)).all()
    dropped: list[Path] = []
    for _ in pieces(path, ["text"], FileOptions(), batch_rows=9, strict=None, dropped=dropped):
        pass
    assert len(dropped) == 2
    error = strict_error(path)
    assert (error.line, error.column) == (3, None)
    assert capfd.readouterr() == ("", "")


def test_broken_utf8_is_named_when_strict_also_behind_blocks(csv_file) -> None:
    path = csv_file(GOOD * 300_000, b"yes,a\xffb,red,10\n")
    assert labels(path) == [300_000, 1]
    error = strict_error(path)
    assert (error.line, error.column) == (300_002, "text")


def test_a_header_without_a_line_feed_has_no_rows(csv_file) -> None:
    assert labels(csv_file(header=HEADER.rstrip())) == [0, 0]
    assert labels(csv_file(name="none.csv", header=""), options=FileOptions(header=("y", "text", "colour", "age"))) == [
        0,
        0,
    ]


ALL = [
    "data.csv', line 3: the record has the wrong number of fields (2 times, here first)",
    "data.csv', line 4, column 'y': the label is not among the classes (2 times, here first)",
    "data.csv', line 4, column 'colour': the value is not among the declared ones.",
    "data.csv', line 7, column 'age': the number is outside its bounds.",
    "data.csv', line 10, column 'age': the value is not a number.",
]
ROWS = ["yes,a\n", ",a,green,10\n", "\n", "yes,a,b,c,d,e\n", 'yes,"a\nb",red,101\n', "maybe,a,?,?\n", "yes,a,red,x\n"]


@pytest.mark.parametrize("batch_rows", [1, 2, 1 << 14])
def test_strict_names_every_kind_of_fault_at_once(csv_file, batch_rows: int) -> None:
    path = csv_file(GOOD, *ROWS)
    assert labels(path, batch_rows=batch_rows) == [1, 2]
    error = strict_error(path, batch_rows=batch_rows)
    first, *told = str(error).split("\n- ")
    assert first == "5 kinds of faults:"
    assert [(line, whole) for line, whole in zip(told, ALL, strict=True) if whole not in line] == []
    assert (error.line, error.column) == (3, None)
    assert labels(csv_file(GOOD, name="good.csv"), strict=True, batch_rows=batch_rows) == [1, 0]


def test_strict_names_broken_utf8_beside_records_of_the_wrong_width(csv_file) -> None:
    path = csv_file(GOOD, b"yes,a\xff\n", GOOD, b"yes,\xff,red,10\n")
    wide, broken = str(strict_error(path)).split("\n- ")[1:]
    assert "line 3: the record has the wrong number of fields." in wide
    assert "line 3: the text is not valid UTF-8 (2 times, here first)" in broken


def test_strict_names_every_kind_of_fault_of_other_sources(tmp_path: Path) -> None:
    schema = Schema((COLUMNS[1], COLUMNS[2]), classes=("no", "yes"), label="y")
    path = tmp_path / "d.jsonl"
    records = ['{"y": "no", "colour": ["red"], "age": 1}', "{", '{"y": "no", "age": "x"}', '{"y": "n", "colour": "x"}']
    path.write_text("\n".join(records))
    places = [
        (int(line.split("line ")[1].split(":")[0].split(",")[0]))
        for line in str(strict_error(path, schema)).split("\n- ")[1:]
    ]
    assert places == [1, 2, 3, 3, 4, 4, 4]
    svm = tmp_path / "d.svm"
    svm.write_text("1 4:1\n# nothing\n7 1:1\n1 x\n")
    assert "3 kinds" in str(strict_error(svm, Schema.matrix(3, (-1, 1))))
    frame = pl.DataFrame({"y": ["no", None, "yes"], "colour": ["x", "red", "y"], "age": [1.0, 200.0, 3.0]})
    with pytest.raises(
        RowError, match=r"(?s)3 kinds.*line 1, column 'colour'.*2 times.*line 2, column 'y'.*line 2, column 'age'"
    ):
        open_source(frame, schema, strict=True)
    people = replace(Schema.matrix(2, (0, 1)), unit=Unit.user("who", 1))
    with pytest.raises(RowError, match=r"(?s)2 kinds.*line 1, column 'y'.*line 2, column 'who'"):
        open_source(np.eye(2), people, y=[5, 1], persons=["a", None], strict=True)

"""scripts/embed: what it makes of SQL files, and what it says about their mistakes."""

import os
import subprocess
import tempfile

from belfry import ROOT, main, tests_of


def embed(mode, *texts, params="named", code=""):
    """Exit code, output and complaints for statements of a made-up store."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i, text in enumerate(texts):
            files.append(os.path.join(folder, f"part{i}.sql"))
            with open(files[-1], "w", encoding="utf-8") as out:
                out.write(text)
        command = [ROOT / "scripts" / "embed", mode, "toy", "toy", "TOY_", params, *files]
        if mode == "-u":
            header = os.path.join(folder, "statements.h")
            source = os.path.join(folder, "toy.c")
            with open(header, "w", encoding="utf-8") as out:
                out.write(embed("-h", *texts)[1])
            with open(source, "w", encoding="utf-8") as out:
                out.write(code)
            command = [ROOT / "scripts" / "embed", "-u", "toy", "TOY_", header, source]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr.replace(folder + "/", "")


def text_of(source):
    """The text of the only statement, tokens of the compiler in braces."""
    text = ""
    for line in source.splitlines():
        line = line.strip()
        if line.startswith("{.text = "):
            text += line[len('{.text = "'):-len('"},')].replace("\\n", " ")
        elif line.startswith("{.number = "):
            text += "{" + line[len("{.number = "):-len("},")] + "}"
    return text.strip()


COLUMNS = "-- columns: cat\nid key, name,\n    age\n"
TYPED = "-- columns: cat\nid bigint key, name text\n"


def test_a_list_of_columns_is_written_once():
    sql = "-- name: put\n-- Why.\nPUT {cat.columns}; {cat.columns c}; {cat.values}; {cat.set};"
    code, out, _ = embed("-s", COLUMNS, sql)
    assert code == 0
    assert text_of(out) == ("PUT id, name, age; c.id, c.name, c.age; :id, :name, :age; "
                            "name = excluded.name, age = excluded.age;")


def test_a_column_may_be_called_key():
    code, out, _ = embed("-s", "-- columns: cat\nid key, key, age\n", "-- name: put\n{cat.set}\n")
    assert code == 0 and text_of(out) == "key = excluded.key, age = excluded.age"


def test_types_make_numbered_parameters():
    code, out, _ = embed("-s", TYPED, "-- name: put\n{cat.values}; {cat.arrays 3}\n")
    assert code == 0 and text_of(out) == "$1::bigint, $2::text; $3::bigint[], $4::text[]"


def test_names_of_parameters_are_numbered_in_order():
    code, out, _ = embed("-s", "-- name: put\nb = :b::text AND a = :a\n    OR b = :b\n",
                         params="numbered")
    assert code == 0 and text_of(out) == "b = $1::text AND a = $2     OR b = $1"


def test_tokens_stand_within_tokens():
    code, out, _ = embed("-s", "-- token: over\n{DONE}, {LOST}\n-- token: is_over\ns IN ({over})\n",
                         "-- name: find\nWHERE {is_over}\n")
    assert code == 0 and text_of(out) == "WHERE s IN ({DONE}, {LOST})"


def test_columns_that_no_file_lists_are_left_to_the_compiler():
    code, out, _ = embed("-s", "-- name: put\n{dog.values}; {dog.edit.set :}; {dog.columns d};\n")
    assert code == 0
    assert "{.fields = &dog_fields, .form = FIELDS_NAMED}," in out
    assert '{.fields = &dog_fields, .form = FIELDS_SET, .groups = FIELD_EDIT, .with = ":"},' in out
    assert '{.fields = &dog_fields, .form = FIELDS_COLUMNS, .with = "d"},' in out
    out = embed("-s", "-- name: put\n{dog.arrays 3}\n", params="numbered")[1]
    assert "{.fields = &dog_fields, .form = FIELDS_ARRAYS, .skip = 2}," in out


def test_mistakes_are_told_with_their_place():
    for text, complaint in (
            ("-- name: a\nX\n-- name: b\n\nSELECT {cat.fist};\n",
             "part0.sql:5: unknown token {cat.fist}"),
            ("-- name: a\nX\n-- name: a\nX\n", "part0.sql:3: name a is also in part0.sql:1"),
            ("-- name: a\n-- Nothing.\n", "part0.sql:1: statement a is empty"),
            ("-- token: t\nX\n-- name: a\nX\n", "part0.sql:1: no statement uses token t"),
            ("-- token: t\n{t}\n-- name: a\n{t}\n", "token {t} needs itself"),
            ("SELECT 1;\n", "part0.sql:1: text in front of the first block")):
        code, _, said = embed("-s", text)
        assert code != 0 and complaint in said, said


def test_every_statement_needs_its_use():
    sql = "-- name: find_cat\nX\n-- name: put_cat\nX\n"
    assert embed("-u", sql, code="use(TOY_FIND_CAT, TOY_PUT_CAT);")[0] == 0
    code, _, said = embed("-u", sql, code="use(TOY_FIND_CAT, TOY_PUT_CAT_TOO);")
    assert code != 0 and "statement put_cat: no C code uses TOY_PUT_CAT" in said


if __name__ == "__main__":
    main(tests_of(globals()))

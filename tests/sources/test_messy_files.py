"""Files as other tools export them: read right without an option, or after one question that its hint answers."""

from __future__ import annotations

import gzip
import json
import re
import shlex
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fieldcheck import sources
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.pool import Pool

N = 60
ANIMALS = ("cat", "dog", "horse")


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def animals(seed: int = 1) -> list[str]:
    return [ANIMALS[code] for code in np.random.default_rng(seed).integers(0, 3, N)]


def shares() -> np.ndarray[Any, Any]:
    found = rng().dirichlet([0.4, 0.4, 0.4], N)
    return found / found.sum(axis=1, keepdims=True)


def frame() -> pd.DataFrame:
    confidence = shares().max(axis=1)
    return pd.DataFrame(
        {"review_id": np.arange(N) + 500, "Predicted Label": animals(), "score": confidence, "region": list("NS") * 30}
    )


def read(path: Path, **options: Any) -> Pool:
    return sources.load(path, **options)


def roles(pool: Pool) -> dict[str, str]:
    return {role: name for role, name in pool.origin.columns.items() if name}


def question(path: Path) -> PoolError:
    with pytest.raises(PoolError) as error:
        read(path)
    return error.value


def answered(path: Path) -> Pool:
    """The pool as it is read once the first option that the question prints is given."""
    words = shlex.split(question(path).hint.replace(",", " "))
    role, _, name = words[words.index("--column") + 1].partition("=")
    return read(path, columns={role: name})


def text(path: Path, lines: Sequence[str], encoding: str = "utf-8", end: str = "\n") -> Path:
    path.write_bytes((end.join(lines) + end).encode(encoding))
    return path


class TestTheTen:
    def test_pandas_with_its_index(self, tmp_path: Path) -> None:
        frame().drop(columns="review_id").to_csv(tmp_path / "a.csv")
        pool = read(tmp_path / "a.csv")
        assert pool.ids.tolist() == list(range(N))
        assert pool.classes == ANIMALS
        np.testing.assert_allclose(pool.confidence, shares().max(axis=1))
        frame().to_csv(tmp_path / "b.csv")
        other = read(tmp_path / "b.csv")
        assert roles(other)["id"] == "review_id"
        assert list(other.columns) == ["region"]

    def test_r_row_names_and_na(self, tmp_path: Path) -> None:
        body = [f'"{at + 1}","case {at}","{one}",0.{at + 10},NA' for at, one in enumerate(animals())]
        pool = read(text(tmp_path / "r.csv", ['"","case.id","yhat","conf","note"', *body]))
        assert pool.id_of(3) == "case 3"
        assert pool.confidence is not None
        assert pool.confidence[0] == 0.10
        assert np.isnan(pool.column("note")).all()
        short = read(text(tmp_path / "w.csv", ['"case.id","yhat","conf","note"', *body]))
        assert short.digest() == pool.digest()

    def test_excel_in_german_as_text(self, tmp_path: Path) -> None:
        body = [f"{at:04d};{one};{40 + at},{at % 10};1.234,5" for at, one in enumerate(animals())]
        lines = ["Kunde Nr.;Vorhersage;Konfidenz;Umsatz", *body, ";;;", ";;;"]
        pool = read(text(tmp_path / "export.csv", lines, "utf-8-sig", "\r\n"))
        assert (len(pool), pool.id_of(7)) == (N, "0007")
        assert pool.confidence is not None
        assert pool.confidence[1] == pytest.approx(0.411)
        assert pool.column("Umsatz")[0] == 1234.5
        assert any("percent" in note for note in pool.notes)
        assert any("2 empty rows" in note for note in pool.notes)

    def test_excel_in_german_as_a_workbook(self, tmp_path: Path) -> None:
        openpyxl = pytest.importorskip("openpyxl")
        pytest.importorskip("python_calamine")
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "Tabelle1"
        for row in (["Auswertung Mai"], [], ["Kunde Nr.", "Vorhersage", "Konfidenz", None]):
            sheet.append(row)
        for at, one in enumerate(animals()):
            sheet.append([1000 + at, one, f"0,{at + 10}", None])
        book.create_sheet("Notizen")
        book.save(tmp_path / "export.xlsx")
        pool = read(tmp_path / "export.xlsx")
        assert (len(pool), pool.id_of(0)) == (N, "1000")
        assert pool.confidence is not None
        assert pool.confidence[:2].tolist() == [0.10, 0.11]
        form = sources.read(tmp_path / "export.xlsx").table.form
        assert "Tabelle1" in form
        assert "Notizen" in form
        assert "decimal commas" in form

    @pytest.mark.parametrize("extra", [{}, {"_type": "table", "ncols": 4, "nrows": N}])
    def test_a_json_table_as_mlflow_and_wandb_write_it(self, tmp_path: Path, extra: dict[str, Any]) -> None:
        found = json.loads(frame().to_json(orient="split", index=False))
        picture = {"_type": "image-file", "path": "media/images/1.png", "sha256": "0"}
        found["columns"].append("image")
        found["data"] = [[*row, picture] for row in found["data"]]
        (tmp_path / "table.json").write_text(json.dumps({**extra, **found}))
        pool = read(tmp_path / "table.json")
        assert roles(pool)["id"] == "review_id"
        assert pool.classes == ANIMALS
        assert pool.column("image").to_pylist()[0] == "media/images/1.png"

    @pytest.mark.parametrize("names", [ANIMALS, ("0", "1", "2")])
    @pytest.mark.parametrize("index", [True, False])
    def test_predict_proba_of_scikit_learn(self, tmp_path: Path, names: Sequence[str], index: bool) -> None:
        pd.DataFrame(shares(), columns=list(names)).to_csv(tmp_path / "p.csv", index=index)
        pool = read(tmp_path / "p.csv")
        assert pool.classes == tuple(names)
        assert pool.predictions.tolist() == shares().argmax(axis=1).tolist()
        np.testing.assert_allclose(pool.confidence, shares().max(axis=1))
        assert any("the largest is the prediction" in note for note in pool.notes)

    def test_columns_named_as_the_classes(self, tmp_path: Path) -> None:
        table = pd.DataFrame(shares() * 100, columns=["Cat", "Dog", "Horse"])
        table.insert(0, "doc", [f"d{at}" for at in range(N)])
        table["animal"] = [ANIMALS[code] for code in shares().argmax(axis=1)]
        table["checked"] = animals()
        table.to_csv(tmp_path / "c.csv", index=False)
        pool = read(tmp_path / "c.csv")
        assert roles(pool)["prediction"] == "animal"
        assert roles(pool)["id"] == "doc"
        assert pool.probabilities is not None
        np.testing.assert_allclose(pool.probabilities, shares(), atol=1e-6)
        assert not pool.truth_known
        assert sources.read(tmp_path / "c.csv").labels == "checked"

    def test_hugging_face_datasets_as_parquet(self, tmp_path: Path) -> None:
        datasets = pytest.importorskip("datasets")
        codes = [ANIMALS.index(one) for one in animals()]
        data = {"text": [f"words {at}" for at in range(N)], "label": codes, "pred": codes[::-1], "score": [0.75] * N}
        found = datasets.Dataset.from_dict(data).cast_column("label", datasets.ClassLabel(names=list(ANIMALS)))
        found.to_parquet(str(tmp_path / "hf.parquet"))
        pool = read(tmp_path / "hf.parquet")
        assert pool.classes == ANIMALS
        assert pool.truth_known
        assert pool.failed.tolist() == [one != other for one, other in zip(codes, codes[::-1], strict=True)]

    def test_a_label_studio_export(self, tmp_path: Path) -> None:
        def result(one: str) -> list[dict[str, Any]]:
            return [{"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": [one]}}]

        tasks = [
            {
                "id": 900 + at,
                "data": {"text": f"words {at}"},
                "annotations": [{"id": at, "completed_by": 1, "result": result(one), "lead_time": 3.2}],
                "predictions": [{"model_version": "v3", "score": 0.5 + at / 200, "result": result(said)}],
            }
            for at, (one, said) in enumerate(zip(animals(1), animals(2), strict=True))
        ]
        (tmp_path / "project.json").write_text(json.dumps(tasks))
        pool = read(tmp_path / "project.json")
        assert pool.id_of(0) == "900"
        assert pool.classes == ANIMALS
        assert pool.truth_known
        assert pool.confidence is not None
        assert pool.confidence[-1] == pytest.approx(0.795)
        assert pool.column("text").to_pylist()[1] == "words 1"

    def test_copy_of_postgresql(self, tmp_path: Path) -> None:
        body = [f"{at}.0\t{one}\t0.{at + 10}\t\\N" for at, one in enumerate(animals())]
        for suffix in (".csv", ".txt", ".tsv"):
            pool = read(text(tmp_path / f"dump{suffix}", ["id\tprediction\tconfidence\tremark", *body]))
            assert pool.ids.tolist() == list(range(N))
            assert np.isnan(pool.column("remark")).all()
        with pytest.raises(PoolError, match="add a first line"):
            read(text(tmp_path / "bare.csv", body))

    def test_json_lines(self, tmp_path: Path) -> None:
        records = frame().to_dict("records")
        lines = [
            json.dumps({**one, "probs": dict(zip(ANIMALS, row, strict=True))})
            for one, row in zip(records, shares().tolist(), strict=True)
        ]
        pool = read(text(tmp_path / "a.jsonl", lines))
        assert pool.probabilities is not None
        assert pool.classes == ANIMALS
        with gzip.open(tmp_path / "b.jsonl.gz", "wt") as file:
            file.write("\n".join(lines))
        assert read(tmp_path / "b.jsonl.gz").digest() == pool.digest()


class TestInMemory:
    def test_all_of_them_are_the_same_pool(self) -> None:
        polars = pytest.importorskip("polars")
        table = frame()
        found = [
            sources.load(one)
            for one in (
                table,
                table.set_index("review_id"),
                pa.Table.from_pandas(table),
                polars.from_arrow(pa.Table.from_pandas(table)),
                {name: table[name].to_numpy() for name in table},
                {name: table[name].to_list() for name in table},
                table.to_dict("records"),
            )
        ]
        assert len({pool.digest({"c": pool.confidence}) for pool in found}) == 1

    def test_a_matrix_in_a_dict(self) -> None:
        pool = sources.load({"id": range(N), "y_proba": shares()})
        assert pool.probabilities is not None
        assert pool.probabilities.shape == (N, 3)

    def test_what_is_no_table(self) -> None:
        with pytest.raises(PoolError, match="list of dicts"):
            sources.load(3)


def binary(tmp_path: Path, values: Sequence[float], said: Sequence[Any], name: str) -> Path:
    pd.DataFrame({"id": range(len(said)), "pred": said, name: values}).to_csv(tmp_path / "b.csv", index=False)
    return tmp_path / "b.csv"


class TestConfidence:
    def test_percent_signs(self, tmp_path: Path) -> None:
        pool = read(text(tmp_path / "a.csv", ["id,pred,certainty", "1,a,61.7%", "2,b,99.9 %"]))
        assert pool.confidence.tolist() == pytest.approx([0.617, 0.999])  # type: ignore[union-attr]

    def test_probability_of_class_one(self, tmp_path: Path) -> None:
        p = rng().beta(0.5, 2, N)
        pool = read(binary(tmp_path, p, (p > 0.3).astype(int), "score"))  # type: ignore[arg-type]
        np.testing.assert_allclose(pool.confidence, np.where(p > 0.3, p, 1 - p))
        assert "the probability of '1'" in " ".join(pool.notes)
        assert pool.origin.settings["confidence"] == "score:1"
        again = read(tmp_path / "b.csv", columns=pool.origin.settings)
        np.testing.assert_array_equal(again.confidence, pool.confidence)

    def test_asked_where_it_could_be_either(self, tmp_path: Path) -> None:
        p = rng().uniform(0, 1, N)
        path = binary(tmp_path, p, rng().integers(0, 2, N), "score")  # type: ignore[arg-type]
        assert "the probability of '1'?" in question(path).problem
        assert answered(path).origin.scale == "1"
        assert read(path, columns={"confidence": "score:share"}).confidence.tolist() == pytest.approx(p.tolist())  # type: ignore[union-attr]

    def test_logits(self, tmp_path: Path) -> None:
        z = rng().normal(0, 4, N)
        pool = read(binary(tmp_path, z, np.where(z > 0, "spam", "ham"), "logit"))  # type: ignore[arg-type]
        np.testing.assert_allclose(pool.confidence, 1 / (1 + np.exp(-np.abs(z))))
        assert "logit" in " ".join(pool.notes)

    def test_logits_of_all_classes(self, tmp_path: Path) -> None:
        z = rng().normal(0, 4, (N, 3))
        table = pd.DataFrame(z, columns=[f"logit_{name}" for name in ANIMALS])
        table.to_csv(tmp_path / "z.csv")
        pool = read(tmp_path / "z.csv")
        assert pool.predictions.tolist() == z.argmax(axis=1).tolist()
        assert "softmax" in " ".join(pool.notes)

    def test_what_is_no_confidence_is_not_taken_for_one(self, tmp_path: Path) -> None:
        table = frame().rename(columns={"score": "credit_score"})
        table["credit_score"] = rng().integers(300, 850, N)
        table.to_csv(tmp_path / "a.csv", index=False)
        assert read(tmp_path / "a.csv").confidence is None
        table.rename(columns={"credit_score": "confidence"}).to_csv(tmp_path / "b.csv", index=False)
        assert "confidence=none" in question(tmp_path / "b.csv").hint
        assert answered(tmp_path / "b.csv").confidence is None

    def test_max_logits_are_not_percent(self, tmp_path: Path) -> None:
        table = frame()
        table["confidence"] = rng().uniform(2, 15, N)
        table.drop(columns="score").to_csv(tmp_path / "a.csv", index=False)
        assert "no confidence" in question(tmp_path / "a.csv").problem


class TestOthers:
    def test_utf_16_from_excel(self, tmp_path: Path) -> None:
        frame().to_csv(tmp_path / "u.csv", sep="\t", index=False, encoding="utf-16")
        assert "UTF-16" in sources.read(tmp_path / "u.csv").table.form
        assert read(tmp_path / "u.csv").classes == ANIMALS

    def test_windows_says_which_encoding(self, tmp_path: Path) -> None:
        path = text(tmp_path / "w.csv", ["id;Vorhersage", "1;Käfer"], "cp1252", "\r\n")
        assert "--encoding cp1252" in question(path).hint
        assert read(path, encoding="cp1252").classes == ("Käfer",)

    def test_lines_above_the_header(self, tmp_path: Path) -> None:
        lines = ["# exported by tool, 2024", "Report for May", "id,pred,conf", "1,a,0.5", "2,b,0.75", "3,b,nan"]
        error = question(text(tmp_path / "a.csv", lines))
        assert "row 3, line 6" in error.problem
        pool = read(text(tmp_path / "a.csv", lines[:-1]))
        assert pool.ids.tolist() == [1, 2]
        assert "2 lines above" in sources.read(tmp_path / "a.csv").table.form

    def test_compressed(self, tmp_path: Path) -> None:
        frame().to_csv(tmp_path / "a.csv.gz", index=False)
        pool = read(tmp_path / "a.csv.gz")
        assert (pool.name, len(pool)) == ("a", N)
        (tmp_path / "b.csv.gz").write_bytes((tmp_path / "a.csv.gz").read_bytes()[:-30])
        assert "b.csv.gz" in question(tmp_path / "b.csv.gz").problem

    def test_ids_that_repeat(self, tmp_path: Path) -> None:
        table = frame().rename(columns={"review_id": "customer_id"})
        table["customer_id"] //= 2
        table.to_csv(tmp_path / "a.csv", index=False)
        pool = read(tmp_path / "a.csv")
        assert "id" not in roles(pool)
        assert "numbered" in " ".join(pool.notes)

    def test_whole_floats_and_truth_values_as_predictions(self, tmp_path: Path) -> None:
        assert read(text(tmp_path / "a.csv", ["id,pred", "1,3.0", "2,4.0"])).classes == ("3", "4")
        assert read(text(tmp_path / "b.csv", ["id,pred", "1,TRUE", "2,FALSE"])).classes == ("false", "true")

    def test_several_labels_at_once(self, tmp_path: Path) -> None:
        lines = [json.dumps({"id": at, "prediction": ["a", "b"][: at + 1]}) for at in range(3)]
        assert "several classes at once" in question(text(tmp_path / "m.jsonl", lines)).problem
        assert "several classes" in question(text(tmp_path / "m.csv", ["id,pred", "1,\"['a', 'b']\""])).problem

    def test_the_pipeline_of_hugging_face(self, tmp_path: Path) -> None:
        records = [{"text": f"t {at}", "label": one, "score": 0.75} for at, one in enumerate(animals())]
        path = tmp_path / "out.json"
        path.write_text(json.dumps(records))
        assert "is it 'label'?" in question(path).problem
        assert answered(path).classes == ANIMALS

    def test_y_true_y_pred_y_prob(self, tmp_path: Path) -> None:
        p = rng().uniform(0, 1, N)
        table = pd.DataFrame({"y_true": rng().integers(0, 2, N), "y_pred": (p > 0.5) * 1, "y_prob": p})
        table.to_csv(tmp_path / "y.csv", index=False)
        pool = read(tmp_path / "y.csv")
        np.testing.assert_allclose(pool.confidence, np.maximum(p, 1 - p))
        assert pool.truth_known

    def test_proba_0_and_proba_1(self, tmp_path: Path) -> None:
        p = rng().uniform(0, 1, N)
        table = pd.DataFrame({"proba_0": 1 - p, "proba_1": p, "gold": rng().integers(0, 2, N)})
        table.to_csv(tmp_path / "y.csv", index=False)
        assert read(tmp_path / "y.csv").predictions.tolist() == (p > 0.5).astype(int).tolist()
        assert sources.read(tmp_path / "y.csv").labels == "gold"

    def test_two_columns_that_may_be_the_prediction(self, tmp_path: Path) -> None:
        path = text(tmp_path / "a.csv", ["id,predicted_a,predicted_b", "1,x,y", "2,x,x"])
        assert "which column" in question(path).problem
        assert answered(path).classes == ("x",)

    def test_lists_of_probabilities_in_parquet(self, tmp_path: Path) -> None:
        table = pa.table({"id": range(N), "probabilities": shares().tolist(), "pred": animals()})
        pq.write_table(table, tmp_path / "a.parquet")
        assert read(tmp_path / "a.parquet").probabilities is not None

    def test_lists_of_probabilities_as_text(self, tmp_path: Path) -> None:
        table = pd.DataFrame({"id": range(N), "proba": [str(row) for row in shares().tolist()], "pred": animals()})
        table.to_csv(tmp_path / "a.csv", index=False)
        np.testing.assert_allclose(read(tmp_path / "a.csv").probabilities, shares())

    @pytest.mark.parametrize("orient", ["columns", "index", "records", "split", "table"])
    def test_every_way_that_pandas_writes_json(self, tmp_path: Path, orient: str) -> None:
        frame().to_json(tmp_path / "a.json", orient=orient)  # type: ignore[call-overload]
        assert read(tmp_path / "a.json").digest() == sources.load(frame()).digest()

    def test_probabilities_without_a_header(self, tmp_path: Path) -> None:
        np.savetxt(tmp_path / "p.csv", shares(), delimiter=",")
        assert "add a first line" in question(tmp_path / "p.csv").hint

    def test_amounts_and_several_labels_are_said(self, tmp_path: Path) -> None:
        lines = ["id,prediction", *(f"{at},{at * 37 + 100_000}" for at in range(N))]
        assert "--task classification" in " ".join(read(text(tmp_path / "a.csv", lines)).notes)
        lines = [
            "id,prediction",
            *(f"{at},{one}|{other}" for at, (one, other) in enumerate(zip(animals(1), animals(2), strict=True))),
        ]
        assert "several labels" in " ".join(read(text(tmp_path / "b.csv", lines)).notes)

    def test_scores_of_something_else(self, tmp_path: Path) -> None:
        for name in ("judge_score", "sentiment_score", "quality score"):
            frame().rename(columns={"score": name}).to_csv(tmp_path / "a.csv", index=False)
            assert read(tmp_path / "a.csv").confidence is None

    def test_kinds_mixed_in_a_column(self, tmp_path: Path) -> None:
        lines = [json.dumps({"id": at, "pred": at if at % 2 else f"c{at}"}) for at in range(4)]
        pool = read(text(tmp_path / "a.jsonl", lines))
        assert pool.classes == ("1", "3", "c0", "c2")
        assert "numbers and text" in " ".join(pool.notes)

    @pytest.mark.parametrize("bad", ["[]", "{}", "3", "[1, 2]", "{", '{"a": [1], "b": [1, 2]}', "\0"])
    def test_json_that_is_no_table(self, tmp_path: Path, bad: str) -> None:
        question(text(tmp_path / "a.json", [bad]))

    def test_a_workbook_without_the_package_or_that_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04 not one")
        assert re.search(r"a\.xlsx", question(tmp_path / "a.xlsx").problem)


def lines_of(header: str, form: str) -> list[str]:
    """A header, and a line for each item; ``c`` is its confidence, ``p`` its probabilities, ``s`` what was said."""
    said = [ANIMALS[code] for code in shares().argmax(axis=1)]
    rows = zip(said, animals(), shares().max(axis=1), shares(), strict=True)
    return [header, *(form.format(i=at, s=one, t=true, c=c, p=p) for at, (one, true, c, p) in enumerate(rows))]


class TestStatistics:
    """What Stata, SPSS, SAS and Weka export."""

    def test_stata_writes_points_for_no_value(self, tmp_path: Path) -> None:
        lines = lines_of("caseid,yhat,phat,income", "{i},{s},{c:.4f},1{i}")
        lines[5] = lines[5].rpartition(",")[0] + ",."
        pool = read(text(tmp_path / "s.csv", lines))
        assert roles(pool)["confidence"] == "phat"
        assert np.isnan(pool.column("income")[4])
        words = read(text(tmp_path / "p.csv", ["id,prediction", "1,.", "2,NOUN"]))
        assert words.classes == (".", "NOUN")

    def test_spss(self, tmp_path: Path) -> None:
        body = [f"{at};{one};,{at + 10};#NULL!" for at, one in enumerate(animals())]
        pool = read(text(tmp_path / "s.csv", ["CASENUM;Predicted;Confidence;AGE", *body], "utf-8-sig", "\r\n"))
        assert pool.confidence is not None
        assert pool.confidence[1] == pytest.approx(0.11)
        assert np.isnan(pool.column("AGE")).all()

    def test_sas_puts_the_name_of_the_target_before_the_class(self, tmp_path: Path) -> None:
        header = "obs,F_animal,I_animal,P_animalcat,P_animaldog,P_animalhorse"
        path = text(tmp_path / "s.csv", lines_of(header, "{i},{t},{s},{p[0]},{p[1]},{p[2]}"))
        pool = read(path)
        assert (pool.classes, roles(pool)["prediction"]) == (ANIMALS, "I_animal")
        assert sources.read(path).labels == "F_animal"
        assert read(path, columns=pool.origin.settings).digest() == pool.digest()

    def test_weka_calls_the_confidence_prediction(self, tmp_path: Path) -> None:
        pool = read(text(tmp_path / "w.csv", lines_of("inst#,actual,predicted,prediction", "{i},{t},{s},{c}")))
        assert (roles(pool)["prediction"], roles(pool)["confidence"]) == ("predicted", "prediction")
        assert "says how sure it was" in " ".join(pool.notes)


class TestDatabases:
    """What their consoles print."""

    def test_a_drawn_table(self, tmp_path: Path) -> None:
        lines = lines_of(" id | prediction | confidence ", " {i} | {s} | {c:.3f}")
        path = text(tmp_path / "psql.txt", [lines[0], "----+---+---", *lines[1:], f"({N} rows)", ""])
        pool = read(path)
        assert (len(pool), pool.classes) == (N, ANIMALS)
        assert f"({N} rows)" in " ".join(pool.notes)
        lines[3] = " 2 | cat | nan"
        assert "row 3, line 5" in question(text(path, [lines[0], "----+---+---", *lines[1:], f"({N} rows)"])).problem

    def test_mysql_and_markdown(self, tmp_path: Path) -> None:
        lines, rule = lines_of("| id | pred | conf |", "| {i} | {s} | {c:.3f} |"), "+----+------+----+"
        drawn = [rule, lines[0], rule, *lines[1:], rule, f"{N} rows in set (0.00 sec)"]
        pool = read(text(tmp_path / "m.txt", drawn))
        assert pool.digest() == read(text(tmp_path / "m.md.txt", [lines[0], "|---|:--|--:|", *lines[1:]])).digest()
        assert len(pool) == N

    def test_remarks_between_rows(self, tmp_path: Path) -> None:
        lines = lines_of("id,prediction,confidence", "{i},{s},{c:.3f}")
        pool = read(text(tmp_path / "a.csv", ["#model: v3", "#date,2026", *lines[:30], "# half way", *lines[30:]]))
        assert len(pool) == N
        assert "first '# half way'" in " ".join(pool.notes)


class TestPipelines:
    """What libraries and services answer."""

    @staticmethod
    def ranked(row: Any) -> list[tuple[str, float]]:
        return sorted(zip(ANIMALS, row.tolist(), strict=True), key=lambda one: -one[1])

    def test_all_scores(self, tmp_path: Path) -> None:
        found = [[{"label": name, "score": score} for name, score in self.ranked(row)] for row in shares()]
        (tmp_path / "a.json").write_text(json.dumps(found))
        np.testing.assert_allclose(read(tmp_path / "a.json").probabilities, shares())
        lines = [json.dumps({"text": f"t {at}", "probs": one}) for at, one in enumerate(found)]
        pool = read(text(tmp_path / "b.jsonl", lines))
        assert pool.classes == ANIMALS
        np.testing.assert_allclose(pool.probabilities, shares())

    @pytest.mark.parametrize("names", [("labels", "scores"), ("displayNames", "confidences")])
    def test_classes_and_scores_side_by_side(self, tmp_path: Path, names: tuple[str, str]) -> None:
        rows = [zip(*self.ranked(row), strict=True) for row in shares()]
        lines = [json.dumps({"sequence": "a", "prediction": dict(zip(names, row, strict=True))}) for row in rows]
        pool = read(text(tmp_path / "z.jsonl", lines))
        assert (pool.classes, pool.truth_known) == (ANIMALS, False)
        np.testing.assert_allclose(pool.probabilities, shares())

    def test_scores_of_the_best_few_are_not_taken_for_all(self, tmp_path: Path) -> None:
        found = [{"id": at, "top": [{"label": "a", "score": 0.5}, {"label": "b", "score": 0.2}]} for at in range(3)]
        (tmp_path / "a.json").write_text(json.dumps(found))
        pool = read(tmp_path / "a.json")
        assert (pool.probabilities, pool.predictions_at([0])) == (None, ("a",))
        assert pool.confidence is not None
        assert pool.confidence.tolist() == [0.5] * 3
        assert any("best few" in note for note in pool.notes)

    def test_spacy(self, tmp_path: Path) -> None:
        lines = [json.dumps({"text": "t", "cats": dict(zip(ANIMALS, row.tolist(), strict=True))}) for row in shares()]
        assert read(text(tmp_path / "s.jsonl", lines)).classes == ANIMALS

    @pytest.mark.parametrize("said", [True, False])
    def test_class_0(self, tmp_path: Path, said: bool) -> None:
        table = pd.DataFrame(shares(), columns=["class_0", "class_1", "class_2"])
        if said:
            table.insert(0, "pred", shares().argmax(axis=1))
        table.to_csv(tmp_path / "c.csv")
        pool = read(tmp_path / "c.csv")
        assert pool.classes == ("0", "1", "2")
        np.testing.assert_allclose(pool.probabilities, shares())
        assert read(tmp_path / "c.csv", columns=pool.origin.settings).digest() == pool.digest()

    def test_an_answer_in_a_list_of_one(self, tmp_path: Path) -> None:
        lines = [json.dumps({"custom_id": f"r{at}", "choices": [{"content": one}]}) for at, one in enumerate(animals())]
        assert answered(text(tmp_path / "o.jsonl", lines)).classes == ANIMALS

    def test_the_best_few(self, tmp_path: Path) -> None:
        header = "file,top1,top1_prob,top2,top2_prob"
        path = text(tmp_path / "t.csv", lines_of(header, "f{i}.jpg,{s},{c},cat,0.01"))
        assert (roles(read(path))["prediction"], roles(read(path))["confidence"]) == ("top1", "top1_prob")
        assert sources.read(path).labels is None

    @pytest.mark.parametrize("kind", [int, bool])
    def test_one_column_per_class_with_one_of_them_set(self, tmp_path: Path, kind: type) -> None:
        codes = shares().argmax(axis=1)
        table = pd.DataFrame(np.eye(3)[codes].astype(kind), columns=[f"pred_{name}" for name in ANIMALS])
        table.to_csv(tmp_path / "o.csv")
        pool = read(tmp_path / "o.csv")
        assert (pool.classes, pool.predictions.tolist()) == (ANIMALS, codes.tolist())
        assert "not how sure" in " ".join(pool.notes)


class TestNumbersAsPeopleWriteThem:
    @pytest.mark.parametrize("blank", ["", " ", "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"])
    def test_percent(self, tmp_path: Path, blank: str) -> None:
        pool = read(text(tmp_path / "a.csv", ["id;pred;conf", f"1;a;61,7{blank}%", f"2;b;99,9{blank}%"]))
        assert pool.confidence.tolist() == pytest.approx([0.617, 0.999])  # type: ignore[union-attr]

    @pytest.mark.parametrize("mark", ["'", "\N{RIGHT SINGLE QUOTATION MARK}", "\N{NARROW NO-BREAK SPACE}", " "])
    def test_thousands(self, tmp_path: Path, mark: str) -> None:
        pool = read(text(tmp_path / "a.csv", ["id;prediction", f"1;1{mark}234.50", "2;17.25"]))
        assert pool.predictions.tolist() == [1234.5, 17.25]
        assert "between thousands" in sources.read(tmp_path / "a.csv").table.form

    def test_commas_in_a_file_with_commas_are_no_decimal_commas(self, tmp_path: Path) -> None:
        pool = read(text(tmp_path / "a.csv", ["id,prediction", '1,"123,456"', '2,"7,000"']), task="regression")
        assert pool.predictions.tolist() == [123_456, 7_000]

    def test_what_may_be_something_else_is_said(self, tmp_path: Path) -> None:
        def notes(header: str, form: str, **options: Any) -> str:
            return " ".join(read(text(tmp_path / "a.csv", lines_of(header, form)), **options).notes)

        assert "60 different texts" in notes("id;prediction", "{i};{i},50 €")
        assert "taken as amounts" in notes("id,target", "{i},{c}", columns={"prediction": "target"})
        assert "stand between quotes" in notes("id,prediction", "{i},'{s}'")
        assert "'confidence=confidence (%):percent'" in notes("id,pred,confidence (%)", "{i},{s},{c}")
        assert "percent" not in notes("id,pred,confidence (%)", "{i},{s},{c}%")
        case = text(tmp_path / "b.csv", ["id,prediction", "1,Cat", "2,cat", "3,dog"])
        assert "'Cat' and 'cat'" in " ".join(read(case).notes)

    def test_percent_signs_are_no_second_percent(self, tmp_path: Path) -> None:
        path = text(tmp_path / "a.csv", ["id;prediction;sure (%)", "1;a;61,7%", "2;b;99,9 %"])
        for asked in ("confidence=sure (%)", "confidence=sure (%):percent"):
            role, _, name = asked.partition("=")
            assert read(path, columns={role: name}).confidence.tolist() == pytest.approx([0.617, 0.999])  # type: ignore[union-attr]

    @pytest.mark.parametrize(
        ("prediction", "more", "task"),
        [
            ("{at}", "", "regression"),  # 0, 37, 74, ...: amounts
            ("{i}", "", "classification"),  # 0, 1, 2, ...: numbered one after the other
            ("{at}", ",{c}", "classification"),  # it says how sure it is
        ],
    )
    def test_whole_numbers_are_amounts_or_classes(self, tmp_path: Path, prediction: str, more: str, task: str) -> None:
        rows = [f"x{i},{prediction.format(i=i, at=37 * i)}{more.format(c=0.5 + i / 200)}" for i in range(N)]
        path = text(tmp_path / "a.csv", ["id,pred" + (",confidence" if more else ""), *rows])
        assert read(path).task == task
        said = "amounts" if task == "regression" else "classes"
        assert more or f"taken as {said}" in " ".join(read(path).notes)

    def test_whole_numbers_that_are_hit_to_the_unit_are_classes(self, tmp_path: Path) -> None:
        rows = [f"x{i},{37 * i},{37 * i if i % 3 else 0}" for i in range(N)]
        assert read(text(tmp_path / "a.csv", ["id,pred,target", *rows])).task == "classification"


class TestForms:
    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
    def test_wide_characters(self, tmp_path: Path, encoding: str) -> None:
        path = text(tmp_path / "a.csv", lines_of("id,prediction,confidence", "{i},{s},{c:.3f}"), encoding)
        assert read(path).classes == ANIMALS
        assert "UTF-" in sources.read(path).table.form

    def test_remarks_of_several_cells_above_the_names(self, tmp_path: Path) -> None:
        openpyxl = pytest.importorskip("openpyxl")
        pytest.importorskip("python_calamine")
        book = openpyxl.Workbook()
        for row in (["Validation"], ["Prepared by", "Ada", "2026-05-01"], [], ["Ticket #", "Decision", "Sure", "Text"]):
            book.active.append(row)
        for at, one in enumerate(animals()):
            book.active.append([f"T-{at}", one, 0.5 + at / 200, f"words {at}"])
        book.save(tmp_path / "a.xlsx")
        assert list(sources.read(tmp_path / "a.xlsx").table.columns) == ["Ticket #", "Decision", "Sure", "Text"]

    def test_a_header_with_a_gap_is_still_the_header(self, tmp_path: Path) -> None:
        path = text(
            tmp_path / "a.csv", ["id,prediction,,note", *(f"{at},{one},x,y" for at, one in enumerate(animals()))]
        )
        assert roles(read(path))["prediction"] == "prediction"
        assert len(read(path)) == N

    def test_values_where_names_should_be(self, tmp_path: Path) -> None:
        lines = [f"{at},{one}" for at, one in enumerate(animals())]
        assert "values, not names" in question(text(tmp_path / "a.csv", lines)).problem

    def test_blanks_between_cells(self, tmp_path: Path) -> None:
        lines = lines_of("id prediction confidence", "{i} {s} {c:.3f}")
        assert "one column only" in question(text(tmp_path / "a.txt", lines)).problem

    @pytest.mark.parametrize("other", ["high", "80.1%"])
    def test_a_confidence_in_words(self, tmp_path: Path, other: str) -> None:
        path = text(tmp_path / "a.csv", ["id,prediction,confidence", "1,a,0.5", f"2,b,{other}"])
        assert answered(path).confidence is None


def test_what_was_decided_is_what_is_read_again(tmp_path: Path) -> None:
    """A campaign keeps the decisions: a later version must not guess anew."""
    table = pd.DataFrame(shares(), columns=list(ANIMALS))
    table.insert(0, "doc", [f"d{at}" for at in range(N)])
    table.to_csv(tmp_path / "c.csv", index=False)
    pool = read(tmp_path / "c.csv")
    assert pool.origin.settings == {
        "id": "doc",
        "prediction": "none",
        "confidence": "none",
        "probabilities": "cat,dog,horse",
    }
    assert read(tmp_path / "c.csv", columns=pool.origin.settings).digest() == pool.digest()


@pytest.mark.parametrize("far", ["XFD1048576", "ABCDE7", "B99999999"])
def test_a_sheet_with_a_cell_far_out_is_refused_before_it_takes_all_memory(tmp_path: Path, far: str) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["id", "prediction"], ["a", "cat"], ["b", "dog"]):
        book.active.append(row)
    book.save(tmp_path / "good.xlsx")
    with zipfile.ZipFile(tmp_path / "good.xlsx") as good, zipfile.ZipFile(tmp_path / "far.xlsx", "w") as bad:
        for name in good.namelist():
            content = good.read(name)
            bad.writestr(name, content.replace(b'r="B3"', f'r="{far}"'.encode()) if "sheet1" in name else content)
    assert len(sources.load(tmp_path / "good.xlsx")) == 2
    with pytest.raises(PoolError, match="far from the others"):
        sources.load(tmp_path / "far.xlsx")


class TestLogsOfEvals:
    """What programs that evaluate language models leave behind."""

    def test_openai(self, tmp_path: Path) -> None:
        lines: list[object] = [{"spec": {"eval_name": "pets", "completion_fns": ["m"]}}]
        for at, one in enumerate(animals()):
            about = {"run_id": "r", "sample_id": f"pets.{at}"}
            asked = {"prompt": [{"role": "user", "content": f"what is {at}?"}], "sampled": [one]}
            lines.append({**about, "event_id": 2 * at, "type": "sampling", "data": asked})
            judged = {"correct": at % 3 > 0, "expected": one if at % 3 else "no", "picked": one, "sampled": one}
            lines.append({**about, "event_id": 2 * at + 1, "type": "match", "data": judged})
        lines.append({"final_report": {"accuracy": 0.5}})
        pool = read(text(tmp_path / "log.jsonl", [json.dumps(line) for line in lines]))
        assert (len(pool), pool.id_of(3)) == (N, "pets.3")
        assert pool.column("prompt")[3].as_py() == "what is 3?"
        assert pool.failed.tolist() == [at % 3 == 0 for at in range(N)]

    def test_promptfoo(self, tmp_path: Path) -> None:
        rows = [
            {"id": f"r{at}", "vars": {"question": f"what is {at}?"}, "response": {"output": one}, "success": at % 3 > 0}
            for at, one in enumerate(animals())
        ]
        (tmp_path / "p.json").write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": rows}}))
        pool = read(tmp_path / "p.json")
        assert set(pool.classes) == set(animals())
        assert list(pool.columns) == ["question"]
        assert pool.failed.tolist() == [at % 3 == 0 for at in range(N)]

    def test_inspect(self, tmp_path: Path) -> None:
        samples = [
            {
                "id": at,
                "epoch": 1,
                "input": f"what is {at}?",
                "target": f"{one}!",
                "output": {"model": "m", "completion": f"I say {one}"},
                "scores": {"match": {"value": "C" if at % 3 else "I", "answer": one}},
            }
            for at, one in enumerate(animals())
        ]
        (tmp_path / "i.json").write_text(json.dumps({"eval": {"task": "pets"}, "samples": samples, "results": {}}))
        pool = read(tmp_path / "i.json")
        assert pool.failed.tolist() == [at % 3 == 0 for at in range(N)]
        assert list(pool.columns) == ["input"]

    def test_harness(self, tmp_path: Path) -> None:
        lines = [
            {"doc_id": at, "doc": {"question": f"what is {at}?", "answer": "cat"}, "target": "cat", "resps": [[one]]}
            | {"filtered_resps": [one], "exact_match": float(at % 3 > 0)}
            for at, one in enumerate(animals())
        ]
        pool = read(text(tmp_path / "samples.jsonl", [json.dumps(line) for line in lines]))
        assert pool.failed.tolist() == [at % 3 == 0 for at in range(N)]
        assert list(pool.columns) == ["document"]

    @pytest.mark.parametrize(
        "odd",
        [
            {"eval": {}, "samples": []},
            {"eval": {}, "samples": [{}, {}]},
            {"eval": {}, "samples": [{"id": 1, "scores": {"m": 3}, "output": [[[[[[["deep"]]]]]]]}] * 2},
            {"results": {"results": [{"response": None}] * 2}},
            {"results": [{"response": {"output": {"content": {"content": {}}}}, "vars": []}] * 2},
            [{"sample_id": [1], "type": "match", "data": {}}] * 2,
            [{"sample_id": 1, "type": "match", "data": 3}] * 2,
            [{"doc_id": {}, "filtered_resps": None, "exact_match": []}] * 2,
        ],
    )
    def test_odd_ones_are_refused(self, tmp_path: Path, odd: object) -> None:
        (tmp_path / "odd.json").write_text(json.dumps(odd))
        assert question(tmp_path / "odd.json").problem


def test_the_answer_is_asked_for_not_the_truth(tmp_path: Path) -> None:
    body = [f"q{at},a{at % 20},t{at % 20},0.{at + 10}" for at in range(N)]
    path = text(tmp_path / "r.csv", ["question,answer,ground_truth,faithfulness", *body])
    assert question(path).hint == "--column prediction=answer"


def test_a_class_and_its_score_in_one_cell(tmp_path: Path) -> None:
    body = [f"{at},\"('{one}', 0.{at + 10})\"" for at, one in enumerate(animals())]
    pool = read(text(tmp_path / "pairs.csv", ["id,pred", *body]))
    assert pool.confidence is not None
    assert (pool.predictions_at([4])[0], pool.confidence[4]) == (animals()[4], 0.14)
    assert any("two columns" in note for note in pool.notes)


@pytest.mark.parametrize("rest", [0.0, 0.1])
def test_lists_of_classes_beside_lists_of_scores_in_parquet(tmp_path: Path, rest: float) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    said = animals()
    labels = [[one, next(other for other in ANIMALS if other != one)] for one in said]
    scores = [[0.51 + at / 500, 0.49 - at / 500 - rest] for at in range(N)]
    parquet.write_table(
        pa.table({"image": [f"i{at}" for at in range(N)], "top_labels": labels, "top_scores": scores}),
        tmp_path / "t.parquet",
    )
    pool = read(tmp_path / "t.parquet")
    assert [pool.classes[code] for code in pool.predictions] == said
    assert pool.confidence is not None or pool.probabilities is not None
    assert any("top_scores" in note for note in pool.notes)


def test_groups_of_columns_above_their_names(tmp_path: Path) -> None:
    body = [f"{at},{one},0.{at + 10}" for at, one in enumerate(animals())]
    pool = read(text(tmp_path / "two.csv", ["meta,model,model", "id,prediction,confidence", *body]))
    assert (roles(pool)["prediction"], len(pool)) == ("prediction", N)


def test_the_name_of_the_model_is_no_prediction(tmp_path: Path) -> None:
    body = [f"{at},gpt,{one},0.{at + 10}" for at, one in enumerate(animals())]
    path = text(tmp_path / "m.csv", ["id,model_output_name,answer,confidence", *body])
    assert question(path).hint == "--column prediction=answer"


@pytest.mark.parametrize("names", [("Scored Labels", "Scored Probabilities"), ("predclass", "prmax")])
def test_names_of_services_and_statistics_packages(tmp_path: Path, names: tuple[str, str]) -> None:
    body = [f"{at},{one},0.{at + 10}" for at, one in enumerate(animals())]
    pool = read(text(tmp_path / "s.csv", [",".join(("caseid", *names)), *body]))
    assert (roles(pool)["prediction"], roles(pool)["confidence"]) == names

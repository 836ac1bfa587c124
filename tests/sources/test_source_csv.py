"""CSV as users have it: marks, cases, encodings, ragged rows, missing cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fieldcheck import sources
from fieldcheck.accuracy.auxiliary import derived
from fieldcheck.core.errors import PoolError
from fieldcheck.core.pool.pool import Pool


@pytest.fixture
def load(tmp_path: Path):  # type: ignore[no-untyped-def]
    def loader(text: str | bytes, suffix: str = ".csv", **options: object) -> Pool:
        path = tmp_path / f"field{suffix}"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return sources.load(path, **options)  # type: ignore[arg-type]

    return loader


def refusal(load, text: str | bytes, *facts: str, **options: object) -> str:  # type: ignore[no-untyped-def]
    """The message for a file that must be refused; every fact must be in it, and the file."""
    with pytest.raises(PoolError) as error:
        load(text, **options)
    for fact in ("field", *facts):
        assert fact in str(error.value)
    return str(error.value)


class TestReads:
    def test_mark_case_and_carriage_returns(self, load) -> None:  # type: ignore[no-untyped-def]
        pool = load(b"\xef\xbb\xbfROW ID,Outcome,SUT,Confidence\r\n0.0,Pass,3,0.5\r\n1.0,Fail,8,1\r\n")
        assert pool.name == "field"
        assert pool.ids.tolist() == [0, 1]
        assert pool.losses().tolist() == [0.0, 1.0]
        assert pool.classes == ("3", "8")
        assert not pool.notes

    def test_tabs_and_semicolons(self, load) -> None:  # type: ignore[no-untyped-def]
        assert load("id\tpred\n1\ta,b\n", suffix=".tsv").classes == ("a,b",)
        assert load("id;pred\n1;a,b\n").classes == ("a,b",)

    def test_first_fraction_far_down(self, load) -> None:  # type: ignore[no-untyped-def]
        """Arrow's own inference looks at the first megabyte only."""
        rows = "".join(f"{i},1,{i}\n" for i in range(150_000))
        pool = load("id,pred,lsa\n" + rows + "150000,1,0.5\n")
        assert derived.values(pool, "lsa")[-1] == 0.5

    def test_line_ends_inside_quotes(self, load) -> None:  # type: ignore[no-untyped-def]
        pool = load('id,pred,text\n1,a,"two\nlines"\n2,b,one\n')
        assert pool.column("text").to_pylist() == ["two\nlines", "one"]

    def test_names_made_of_digits_stay_names(self, load) -> None:  # type: ignore[no-untyped-def]
        pool = load("id,pred\n007,a\n010,b\n")
        assert [pool.id_of(i) for i in range(2)] == ["007", "010"]
        long = "12345678901234567890123"
        assert load(f"id,pred\n{long},a\n").id_of(0) == long

    def test_index_that_pandas_writes(self, load) -> None:  # type: ignore[no-untyped-def]
        assert load(",pred\n5,a\n6,b\n").ids.tolist() == [5, 6]

    def test_file_names_are_ids_only_without_an_id(self, load) -> None:  # type: ignore[no-untyped-def]
        assert load("filename,pred\nx.png,a\n").id_of(0) == "x.png"
        pool = load("filename,id,pred\nx.png,3,a\n")
        assert pool.id_of(0) == "3"
        assert pool.column("filename").to_pylist() == ["x.png"]

    def test_without_ids_items_are_numbered_and_it_says_so(self, load) -> None:  # type: ignore[no-untyped-def]
        pool = load("pred\na\nb\n")
        assert pool.ids.tolist() == [0, 1]
        assert "numbered" in " ".join(pool.notes)

    def test_decimal_comma(self, load) -> None:  # type: ignore[no-untyped-def]
        assert load('id,pred,confidence\n1,a,"0,5"\n').confidence.tolist() == [0.5]
        pool = load("id;pred\n1;0,5\n2;1.234,7\n")
        assert pool.predictions.tolist() == [0.5, 1234.7]

    def test_what_a_comma_is_must_be_clear(self, load) -> None:  # type: ignore[no-untyped-def]
        assert load("id;pred;size\n1;a;1,234\n").column("size").to_pylist() == ["1,234"]
        assert load('id,pred,size\n1,a,"1,234.5"\n2,b,"9"\n').column("size").tolist() == [1234.5, 9.0]

    def test_encoding(self, load) -> None:  # type: ignore[no-untyped-def]
        assert load("id,pred\n1,café\n".encode("latin-1"), encoding="latin-1").classes == ("café",)
        assert load("id,pred\n1,café\n".encode("utf-16"), encoding="utf-16").classes == ("café",)

    def test_shift(self, load) -> None:  # type: ignore[no-untyped-def]
        assert derived.values(load("id,pred,lsa\n1,a,-2\n2,b,1\n", shift=("lsa",)), "lsa").tolist() == [0.0, 3.0]

    def test_long_cells(self, load) -> None:  # type: ignore[no-untyped-def]
        assert len(load("id,pred\n1," + "a" * 3_000_000 + "\n").classes[0]) == 3_000_000

    def test_a_quote_inside_a_cell(self, load) -> None:  # type: ignore[no-untyped-def]
        assert load('id,pred\n1,5" disk\n2,b\n').classes == ('5" disk', "b")

    def test_outcome_beside_numbers_is_not_used(self, load) -> None:  # type: ignore[no-untyped-def]
        pool = load("id,pred,outcome\n1,0.5,Pass\n2,0.7,Fail\n")
        assert not pool.truth_known
        assert "'outcome' is not used" in " ".join(pool.notes)

    def test_probabilities(self, load) -> None:  # type: ignore[no-untyped-def]
        pool = load("id,proba_cat,proba_dog,target\n1,0.25,0.75,cat\n2,1,0,cow\n")
        assert pool.classes == ("cat", "dog", "cow")
        assert pool.predictions.tolist() == [1, 0]
        assert pool.confidence.tolist() == [0.75, 1.0]
        assert pool.losses().tolist() == [1.0, 1.0]

    def test_mapped_probabilities(self, load) -> None:  # type: ignore[no-untyped-def]
        pool = load("id,soft_a,soft_b\n1,0.25,0.75\n", columns={"probabilities": "soft"})
        assert pool.classes == ("a", "b")

    def test_probability_of_the_second_class_becomes_confidence(self, load) -> None:  # type: ignore[no-untyped-def]
        pool = load("id,y_pred,y_pred_proba\n1,0,0.125\n2,1,0.75\n")
        assert pool.confidence.tolist() == [0.875, 0.75]
        assert "the probability of '1'" in " ".join(pool.notes)

    def test_partial_truth_counts_as_unknown(self, load) -> None:  # type: ignore[no-untyped-def]
        pool = load("id,pred,target\n1,a,a\n2,b,\n")
        assert not pool.truth_known
        assert "'target' is missing for 1" in " ".join(pool.notes)

    @pytest.mark.parametrize("cell", ["", "nan", "None", "NaN", "null"])
    def test_missing_cells_of_other_columns_do_not_matter(self, load, cell: str) -> None:  # type: ignore[no-untyped-def]
        pool = load(f"id,pred,dsa\n1,a,{cell}\n2,b,1\n")
        assert np.isnan(pool.column("dsa")[0])

    def test_a_class_may_be_called_none_when_quoted(self, load) -> None:  # type: ignore[no-untyped-def]
        assert load('id,pred\n1,"None"\n2,"some"\n').classes == ("None", "some")


class TestTruth:
    TEXT = "id,pred,label,verdict,flag\n1,3,3,wrong,True\n2,4,5,right,False\n"

    @pytest.mark.parametrize(
        ("truth", "losses"), [(None, [0, 1]), ("label", [0, 1]), ("verdict", [1, 0]), ("Flag", [0, 1])]
    )
    def test_classes_or_outcomes_by_their_values(self, load, truth: str | None, losses: list[int]) -> None:  # type: ignore[no-untyped-def]
        assert load(self.TEXT, truth=truth).losses().tolist() == losses

    def test_a_model_that_grades_predicts_words_that_look_like_outcomes(self, load) -> None:  # type: ignore[no-untyped-def]
        pool = load("id,pred,label\n1,right,wrong\n2,wrong,wrong\n")
        assert pool.losses().tolist() == [1.0, 0.0]

    def test_an_outcome_column_of_classes_is_a_target(self, load) -> None:  # type: ignore[no-untyped-def]
        assert load("id,pred,outcome\n1,cat,cat\n2,dog,cat\n").losses().tolist() == [0.0, 1.0]

    def test_zero_and_one_are_classes_unless_the_name_says_outcome(self, load) -> None:  # type: ignore[no-untyped-def]
        assert load("id,pred,label\n1,0,0\n2,0,1\n").losses().tolist() == [0.0, 1.0]
        assert load("id,pred,correct\n1,0,0\n2,0,1\n").losses().tolist() == [1.0, 0.0]

    def test_missing_truth_that_was_asked_for(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,pred,label\n1,a,a\n2,b,\n", "'label'", "'2'", "row 2", "line 3", truth="label")

    def test_unknown_truth(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, self.TEXT, "'lable'", "'label'", truth="lable")


class TestRefuses:
    def test_ragged(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,pred\n1,a\n\n2,b,extra\n", "line 4", "3 values", "2 columns", "2,b,extra")
        refusal(load, "id,pred\n1,a\n2\n", "line 3", "1 values")

    def test_ragged_after_a_quoted_line_end(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, 'id,pred\n1,"a\nb"\n2\n', "line 4")

    def test_latin(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,pred\n1,a\n2,café\n".encode("latin-1"), "byte 17", "line 3", "--encoding latin-1")

    def test_latin_header(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,pred,café\n1,a,b\n".encode("latin-1"), "line 1", "--encoding latin-1")

    def test_zero_bytes(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, b"id,pred\n1,a\0\n", "--encoding utf-16", "byte 11")

    def test_wrong_or_unknown_encoding_given(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,pred\n1,café\n".encode("latin-1"), "ascii", encoding="ascii")
        refusal(load, "id,pred\n1,a\n", "klingon", encoding="klingon")

    def test_empty_and_header_only(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "", "empty")
        refusal(load, "id,pred\n", "no row")
        refusal(load, "id,pred", "no row")
        refusal(load, "\n\n")

    def test_duplicate_header(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,dsa,dsa\n1,2,3\n", "'dsa'", "2 times")
        refusal(load, "id,dsa, dsa\n1,2,3\n", "'dsa'", "2 times")

    @pytest.mark.parametrize("bad", ["nan", "inf", "-0.25", "1.5"])
    def test_confidence(self, load, bad: str) -> None:  # type: ignore[no-untyped-def]
        text = f'id,pred,Conf,note\nx,a,0.5,"two\nlines"\ny,b,{bad},\n'
        refusal(load, text, "'Conf'", "1 of 2 items", "'y'", bad, "row 2", "line 4")

    def test_duplicate_ids(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,pred\n5,a\n6,b\n5,c\n", "'id'", "5", "row 3", "line 4")

    def test_missing_id(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,pred\nx,a\n,b\n", "'id'", "row 2", "line 3")

    def test_missing_prediction(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,pred\nx,a\ny,None\n", "'pred'", "'y'", "row 2", "line 3")

    def test_negative_auxiliary(self, load) -> None:  # type: ignore[no-untyped-def]
        pool = load("id,pred,lsa\nx,a,-0.5\n")
        with pytest.raises(PoolError, match=r"field\.csv.*'lsa'.*'x' with -0\.5 \(row 1, line 2\)") as error:
            derived.values(pool, "lsa")
        assert "--shift lsa" in str(error.value)

    def test_numbers_against_text(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,pred,target\n1,3,cat\n", "'target'", "'pred'", "'cat'", "3", "line 2")

        refusal(load, "id,pred,target\n1,3,3\n2,3,cat\n", "'cat'", "row 2", "line 3")

    def test_quote_that_is_never_closed(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, 'id,pred\n1,a\n2,"b\n3,c\n', "line 2", "never closed")

    def test_one_column_for_two_roles(self, load) -> None:  # type: ignore[no-untyped-def]
        mapped = {"prediction": "pred", "target": "pred"}
        refusal(load, "id,pred\n1,a\n", "target=pred", columns=mapped)

    def test_cells_longer_than_python_reads(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,pred\n1," + "a" * 200_000 + ",x\n", "Expected 2 columns, got 3")
        refusal(load, "id,pred,text\n1,," + "a" * 200_000 + "\n", "'pred'", "row 1", "line 2")

    def test_no_predictions(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,animal\n1,a\n", "predictions", "--column prediction=animal")

    def test_unknown_mapping(self, load) -> None:  # type: ignore[no-untyped-def]
        refusal(load, "id,yhat\n1,a\n", "'y_hat'", "'yhat'", columns={"prediction": "y_hat"})
        refusal(load, "id,yhat\n1,a\n", "'predicton'", "prediction", columns={"predicton": "yhat"})
        refusal(load, "id,yhat\n1,a\n", "'soft", "yhat", columns={"probabilities": "soft"})


class TestPlaces:
    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(PoolError, match=r"absent\.csv"):
            sources.load(tmp_path / "absent.csv")

    @pytest.mark.parametrize("name", ["folder", "folder.csv"])
    def test_folder(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).mkdir()
        with pytest.raises(PoolError, match="folder"):
            sources.load(tmp_path / name)

    def test_unknown_suffix(self, tmp_path: Path) -> None:
        with pytest.raises(PoolError, match=r"\.xlsx"):
            sources.load(tmp_path / "field.xlsx")

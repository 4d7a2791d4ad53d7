"""Public descriptions of the published data sets: values from their code books, round bounds, bins by common sense.

Nothing here was read off the rows.
"""

from __future__ import annotations

from tacit.data.columns import CategoryColumn, Column, NumberColumn, TextColumn
from tacit.data.schema import Schema
from tacit.privacy.unit import Unit

SURVEY_CODES: dict[str, tuple[str, ...]] = {
    "rate_marriage": ("1", "2", "3", "4", "5"),
    "age": ("17.5", "22", "27", "32", "37", "42"),
    "yrs_married": ("0.5", "2.5", "6", "9", "13", "16.5", "23"),
    "children": ("0", "1", "2", "3", "4", "5.5"),
    "religious": ("1", "2", "3", "4"),
    "educ": ("9", "12", "14", "16", "17", "20"),
    "occupation": ("1", "2", "3", "4", "5", "6"),
    "occupation_husb": ("1", "2", "3", "4", "5", "6"),
}

_ADULT_VALUES = {
    "workclass": (
        "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, Without-pay, Never-worked"
    ),
    "education": (
        "Bachelors, Some-college, 11th, HS-grad, Prof-school, Assoc-acdm, Assoc-voc, 9th, 7th-8th, 12th, Masters, "
        "1st-4th, 10th, Doctorate, 5th-6th, Preschool"
    ),
    "marital-status": (
        "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent, Married-AF-spouse"
    ),
    "occupation": (
        "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, Handlers-cleaners, "
        "Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, Priv-house-serv, Protective-serv, "
        "Armed-Forces"
    ),
    "relationship": "Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried",
    "race": "White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black",
    "sex": "Female, Male",
}

_DRUGS = (
    "metformin, repaglinide, nateglinide, chlorpropamide, glimepiride, acetohexamide, glipizide, glyburide, "
    "tolbutamide, pioglitazone, rosiglitazone, acarbose, miglitol, troglitazone, tolazamide, examide, citoglipton, "
    "insulin, glyburide-metformin, glipizide-metformin, glimepiride-pioglitazone, metformin-rosiglitazone, "
    "metformin-pioglitazone"
)


def adult_schema() -> Schema:
    """Seven categories and five numbers of Adult; the sampling weight and the country are left out."""
    columns: list[Column] = [
        NumberColumn("age", (17, 22, 26, 30, 34, 38, 43, 48, 55, 65, 90)),
        NumberColumn("education-num", (1, 9, 10, 11, 13, 14, 15, 16)),
        NumberColumn("capital-gain", (0, 1, 5_000, 7_500, 15_000, 100_000)),
        NumberColumn("capital-loss", (0, 1, 1_500, 2_000, 5_000)),
        NumberColumn("hours-per-week", (1, 20, 35, 40, 41, 46, 55, 99)),
    ]
    columns += [CategoryColumn(name, _listed(values)) for name, values in _ADULT_VALUES.items()]
    return Schema(tuple(columns), classes=(0, 1))


def diabetes_schema(unit: Unit) -> Schema:
    """The columns of Diabetes that are known at discharge; ICD-9 codes are hashed, as their list is long."""
    ages = tuple(f"[{low}-{low + 10})" for low in range(0, 100, 10))
    columns: list[Column] = [
        CategoryColumn("age", ages),
        CategoryColumn("gender", ("Female", "Male")),
        CategoryColumn("race", ("Caucasian", "AfricanAmerican", "Hispanic", "Asian", "Other")),
        CategoryColumn("admission_type_id", tuple(range(1, 9))),
        CategoryColumn("discharge_disposition_id", tuple(range(1, 31))),
        CategoryColumn("admission_source_id", tuple(range(1, 27))),
        NumberColumn("time_in_hospital", (1, 2, 3, 4, 5, 7, 9, 14)),
        NumberColumn("num_lab_procedures", (1, 20, 35, 45, 60, 150)),
        NumberColumn("num_procedures", (0, 1, 2, 4, 6)),
        NumberColumn("num_medications", (1, 8, 12, 16, 22, 100)),
        NumberColumn("number_outpatient", (0, 1, 2, 4, 50)),
        NumberColumn("number_emergency", (0, 1, 2, 4, 100)),
        NumberColumn("number_inpatient", (0, 1, 2, 3, 5, 25)),
        NumberColumn("number_diagnoses", (1, 4, 6, 8, 9, 16)),
        CategoryColumn("max_glu_serum", ("None", "Norm", ">200", ">300")),
        CategoryColumn("A1Cresult", ("None", "Norm", ">7", ">8")),
        *(TextColumn(name, bits=10) for name in ("diag_1", "diag_2", "diag_3")),
        *(CategoryColumn(name, ("No", "Steady", "Up", "Down")) for name in _listed(_DRUGS)),
        CategoryColumn("change", ("No", "Ch")),
        CategoryColumn("diabetesMed", ("No", "Yes")),
    ]
    return Schema(tuple(columns), classes=(0, 1), unit=unit)


def survey_schema() -> Schema:
    """The eight questions of Fair's survey with their answer codes."""
    return Schema(tuple(CategoryColumn(name, codes) for name, codes in SURVEY_CODES.items()), classes=(0, 1))


def _listed(values: str) -> tuple[str, ...]:
    return tuple(values.split(", "))

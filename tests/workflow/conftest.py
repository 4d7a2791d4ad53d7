"""A real Spark of one core."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import spark_cluster


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    reason = spark_cluster.missing()
    if reason is not None:
        pytest.skip(reason)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("tacit")
    settings = {
        "spark.driver.bindAddress": spark_cluster.LOOPBACK,
        "spark.driver.host": spark_cluster.LOOPBACK,
        "spark.driver.extraJavaOptions": spark_cluster.QUICK_START,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    opened = builder.getOrCreate()
    opened.sparkContext.setLogLevel("ERROR")
    yield opened
    opened.stop()

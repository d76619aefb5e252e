"""Files as models leave them, sound and changed."""

import numpy as np
import pyarrow as pa

from scripts.core.data import instances


def arrow(frame):
    """Return a frame as an Arrow table in which NaN stays NaN."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for index, field in enumerate(table.schema):
        values = frame[field.name]
        if values.dtype == np.float64:
            table = table.set_column(index, field.name, pa.array(values.to_numpy(), from_pandas=False))
    return table


def changed(frame, row, column, value):
    frame = frame.astype({column: object}) if isinstance(value, str) or value is None else frame.copy()
    frame.loc[row, column] = value
    return frame.convert_dtypes() if value is None else frame


def write(path, frame, model="m", **facts):
    """Write outputs of a model as jobs do."""
    table = arrow(frame).replace_schema_metadata()
    instances.write_stream(path, table.schema, table.to_batches(), {"model": model, **facts})
    return path

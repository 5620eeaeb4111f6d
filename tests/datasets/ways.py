"""The ways in which tests give loaded rows: a frame, tuples, and files of three formats."""


def given(frame, way, folder):
    """Return the rows of a frame as one of the ways in takes them."""
    path = folder / f"a.{way}"
    if way == "frame":
        return frame
    if way == "rows":
        return list(frame.itertuples(index=False, name=None))
    if way == "csv":
        frame.to_csv(path, index=False)
    elif way == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    return path

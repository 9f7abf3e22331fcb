"""The life of a run: launch, claim, execute, record, cancel, end, reap, sweep."""

"""Pure knowledge of the field: no Django, no I/O."""

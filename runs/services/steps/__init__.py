"""What each step of a run reads and writes around its pure part in `runs/pipeline/`."""

"""Benchmark plans, their measurement, records and export. The way in is engine.bench.run."""

"""Readers: how files of a format become a frame. Those of others can be added."""

from airflow_partitions.storage.reading.readers.reader import Reader
from airflow_partitions.storage.reading.readers.registry import reader_for, register_reader
from airflow_partitions.storage.reading.scan import Scan

__all__ = ["Reader", "Scan", "reader_for", "register_reader"]

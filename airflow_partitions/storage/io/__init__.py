"""Readers: how files of a format become a frame. Those of others can be added."""

from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.io.reader import Reader
from airflow_partitions.storage.io.registry import reader_for, register_reader

__all__ = ["ReadRequest", "Reader", "reader_for", "register_reader"]

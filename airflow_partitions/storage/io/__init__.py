"""Readers and writers of frames, by format. Others can be added."""

from airflow_partitions.storage.io.read_request import ReadRequest
from airflow_partitions.storage.io.reader import Reader
from airflow_partitions.storage.io.registry import reader_for, register_reader, register_writer, writer_for
from airflow_partitions.storage.io.shape import Shape
from airflow_partitions.storage.io.write_request import WriteRequest
from airflow_partitions.storage.io.writer import Writer

__all__ = [
    "ReadRequest",
    "Reader",
    "Shape",
    "WriteRequest",
    "Writer",
    "reader_for",
    "register_reader",
    "register_writer",
    "writer_for",
]

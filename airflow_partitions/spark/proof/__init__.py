"""What a job really read, counted where its queries run."""

from airflow_partitions.spark.proof.promise import Promise
from airflow_partitions.spark.proof.proof import Proof
from airflow_partitions.spark.proof.recording import recording
from airflow_partitions.spark.proof.scan import ObservedScan, normalise_path

__all__ = ["ObservedScan", "Promise", "Proof", "normalise_path", "recording"]

"""Calendars, which cut time into intervals. All of it counts microseconds since the epoch, in integers."""

from airflow_partitions.core.calendars.calendar import Calendar, ElapsedCalendar, cron_calendar
from airflow_partitions.core.calendars.clock import Clock
from airflow_partitions.core.calendars.cron import Cron, read_cron

__all__ = ["Calendar", "Clock", "Cron", "ElapsedCalendar", "cron_calendar", "read_cron"]

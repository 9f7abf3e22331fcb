"""Celery: messages are doorbells, the database is the queue; no result is kept."""

from __future__ import annotations

import os

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labsite.settings")

from django.conf import settings

app = Celery("throttle-lab")
app.conf.update(
    broker_url=settings.ENV.broker_url.replace("unix://", "redis+socket://"),
    task_ignore_result=True,
    task_acks_late=False,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    # A doorbell that cannot be delivered at once is worthless: control rings again.
    broker_transport_options={"socket_connect_timeout": 2, "socket_timeout": 10},
    task_publish_retry=False,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    task_default_queue="control",
    beat_schedule={
        "tend": {"task": "experiments_app.tasks.tend", "schedule": 2.0, "options": {"expires": 4}},
    },
)
app.autodiscover_tasks(["experiments_app"])


def machine_queue(machine: str) -> str:
    """The queue of the one worker that runs on this machine."""
    return f"machine.{machine}"


@signals.setup_logging.connect
def _keep_our_logging(**_: object) -> None:
    """Django's settings have configured logging already; Celery leaves it alone."""


@signals.beat_embedded_init.connect
def _die_with_control(**_: object) -> None:
    """The embedded beat is a child process: it must not outlive a killed control."""
    from labsite.lifeline import tie_to_parent

    tie_to_parent()

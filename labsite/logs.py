"""Log lines of all processes, one form: structlog over the standard library's loggers."""

from __future__ import annotations

import logging
import sys

import structlog


def configure(*, level: str) -> None:
    """Send every record to standard error, coloured only on a terminal."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processor=structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(),
                # Plain: the pretty one prints every local variable, secrets included.
                exception_formatter=structlog.dev.plain_traceback,
            ),
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # One line a request or a database statement would bury what matters.
    for noisy in (
        "asyncio",
        "circus",
        "uvicorn.access",
        "django.db.backends",
        "celery.app.trace",
        "celery.beat",
        "celery.worker.strategy",
    ):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # Anybody can send a wrong Host; a line each is enough to know, a traceback is not needed.
    logging.getLogger("django.security.DisallowedHost").setLevel(logging.CRITICAL)

"""The Django project: settings, ASGI entry, Celery application."""

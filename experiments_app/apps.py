from django.apps import AppConfig


class ExperimentsConfig(AppConfig):
    name = "experiments_app"
    label = "lab"
    verbose_name = "Throttle Lab"

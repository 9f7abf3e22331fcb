"""Django settings. What may differ between installations comes from labsite.env."""

from __future__ import annotations

from typing import Any

import dj_database_url
from csp.constants import NONE, SELF

from labsite import env, logs

ENV = env.load()
env.prepare_var(ENV)

BASE_DIR = env.ROOT
SECRET_KEY = env.secret_key(ENV)
LAB_ID = env.lab_id(ENV)
DEBUG = ENV.debug
ALLOWED_HOSTS = ENV.allowed_hosts
ROOT_URLCONF = "labsite.urls"
ASGI_APPLICATION = "labsite.asgi.application"
LANGUAGE_CODE = "en-gb"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "channels",
    "csp",
    "django_htmx",
    "experiments_app.apps.ExperimentsConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "experiments_app.web.middleware.no_store",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "experiments_app.web.context.frame",
            ]
        },
    }
]

SQLITE = f"sqlite:///{ENV.var / 'lab.sqlite3'}"
DATABASES: dict[str, Any] = {"default": dj_database_url.parse(ENV.database_url or SQLITE)}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # A writer takes the lock when its transaction begins, so two writers queue up instead
    # of one failing half way; WAL lets readers read meanwhile.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # A file, not memory: tests run the same threads and processes as the lab does.
    DATABASES["default"]["TEST"] = {"NAME": str(ENV.var / "test.sqlite3")}

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {
            # The layer's blocking read lasts five seconds, as long as the client's own default
            # timeout: left alone, one of them ends in an error every few reads.
            "hosts": [
                {"address": ENV.broker_url, "socket_timeout": 30, "socket_connect_timeout": 2}
            ],
            "capacity": 1000,
            "expiry": 30,
        },
    },
    # A socket's own channel, which nobody sends to: one reader a process listens for all.
    "sockets": {"BACKEND": "channels.layers.InMemoryChannelLayer"},
}

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "web:sign-in"
# Cookies know no ports: two labs on one host must not overwrite each other's.
SESSION_COOKIE_AGE = 30 * 24 * 3600
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = f"throttle_lab_{LAB_ID}_session"
CSRF_COOKIE_NAME = f"throttle_lab_{LAB_ID}_csrf"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENV.secure_cookies
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# Plotly adds one empty style element; its hash is that of the empty string.
EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF, EMPTY_STYLE],
        "img-src": [SELF, "data:", "blob:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

STATIC_URL = "static/"
STATIC_ROOT = ENV.var / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "labsite.staticfiles.VendorFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "labsite.staticfiles.ModuleStorage"},
}
WHITENOISE_MAX_AGE = 365 * 24 * 3600
DATA_UPLOAD_MAX_MEMORY_SIZE = 50 * 1024 * 1024

LOGGING_CONFIG = None
logs.configure(level=ENV.log_level)

"""Django settings. The values come from `env.py`; this file only arranges them."""

import hashlib
import logging
import sys
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _
from environs import validate

from glossary_site import env as environment
from glossary_site.env import env

POSITIVE = validate.Range(min=1)
NOT_NEGATIVE = validate.Range(min=0)
POSITIVE_FLOAT = validate.Range(min=0, min_inclusive=False)

BASE_DIR = environment.ROOT
DATA_DIR = environment.data_dir()
ROLE = environment.role()
REDIS_URL = environment.redis_url()

PRODUCTION = env.bool("GLOSSARY_PRODUCTION", False)
DEBUG = env.bool("GLOSSARY_DEBUG", False)
SECRET_KEY = environment.secret_key(DATA_DIR)
ENCRYPTION_KEYS = environment.encryption_keys()
ALLOWED_HOSTS = env.list("GLOSSARY_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("GLOSSARY_TRUSTED_ORIGINS", [])

# Twisted takes long to load: only Django's `runserver` needs the app, `serve` runs Daphne itself.
ONLY_WITH_RUNSERVER = ["daphne"] if "runserver" in sys.argv[1:2] else []

INSTALLED_APPS = [
    *ONLY_WITH_RUNSERVER,
    # Without autodiscovery, which `urls.py` does: only the web process has an admin.
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "channels",
    "csp",
    "django_filters",
    "django_htmx",
    "django_q",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "glossary_site",
    "glossary_site.people",
    "glossary_site.live",
    "glossary_site.jobs",
    "glossary_site.llm",
    "projects",
    "indexing",
    "runs",
    "collection",
]

MIDDLEWARE = [
    # The first: whatever answers, and however, has a trace id and is counted.
    "glossary_site.observe.middleware.ObserveMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "glossary_site.api.middleware.ApiMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "glossary_site.people.middleware.SignInFirstMiddleware",
    "glossary_site.people.middleware.PrivatePagesMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "glossary_site.urls"
ASGI_APPLICATION = "glossary_site.asgi.application"
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
                "django.template.context_processors.i18n",
            ],
            "builtins": ["glossary_site.templatetags.site"],
        },
    },
]

DATABASES = {"default": environment.database(DATA_DIR, ROLE)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}

# People
AUTH_USER_MODEL = "people.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "project-list"
LOGOUT_REDIRECT_URL = "sign-in"
# Sign-in is limited for a name from an address, so that nobody can lock another person out.
AXES_FAILURE_LIMIT = env.int("GLOSSARY_SIGN_IN_ATTEMPTS", 10, validate=POSITIVE)
AXES_COOLOFF_TIME = timedelta(
    minutes=env.int("GLOSSARY_SIGN_IN_COOLOFF_MINUTES", 15, validate=POSITIVE)
)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "glossary_site.people.views.locked_out"
AXES_VERBOSE = False

# Language and time
LANGUAGES = [("en", _("English")), ("ja", _("Japanese"))]
LANGUAGE_CODE = env.str("GLOSSARY_LANGUAGE", "en", validate=validate.OneOf(["en", "ja"]))
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = environment.time_zone()

# Files. The web process serves them itself (see asgi.py): nothing to collect, nothing to build.
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# Documents
MEGABYTE = 1024 * 1024
MAX_FILE_BYTES = env.int("GLOSSARY_MAX_FILE_MB", 10, validate=POSITIVE) * MEGABYTE
MAX_UPLOAD_FILES = env.int("GLOSSARY_MAX_UPLOAD_FILES", 1000, validate=POSITIVE)
MAX_ARCHIVE_BYTES = env.int("GLOSSARY_MAX_ARCHIVE_MB", 200, validate=POSITIVE) * MEGABYTE
MAX_ARCHIVE_RATIO = env.int("GLOSSARY_MAX_ARCHIVE_RATIO", 100, validate=POSITIVE)
CONVERSION_SECONDS = env.int("GLOSSARY_CONVERSION_SECONDS", 30, validate=POSITIVE)
CONVERSION_TOTAL_SECONDS = env.int("GLOSSARY_CONVERSION_TOTAL_SECONDS", 300, validate=POSITIVE)
# A pasted text or a JSON body holds one document, or a modest batch of them.
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * MAX_FILE_BYTES
DATA_UPLOAD_MAX_NUMBER_FILES = MAX_UPLOAD_FILES
DATA_UPLOAD_MAX_NUMBER_FIELDS = MAX_UPLOAD_FILES + 100

# Search: how texts are cut into sections (in tokens), and who makes vectors of them.
SECTION_MAX_TOKENS = env.int("GLOSSARY_SECTION_MAX_TOKENS", 400, validate=validate.Range(min=50))
SECTION_OVERLAP_TOKENS = env.int("GLOSSARY_SECTION_OVERLAP_TOKENS", 50, validate=NOT_NEGATIVE)
SECTION_MIN_TOKENS = env.int("GLOSSARY_SECTION_MIN_TOKENS", 24, validate=NOT_NEGATIVE)
EMBEDDER = env.str(
    "GLOSSARY_EMBEDDER",
    "wordllama",
    validate=validate.OneOf(["wordllama", "minilm", "openai", "none"]),
)
EMBEDDING_MODEL = env.str(
    "GLOSSARY_EMBEDDING_MODEL",
    "text-embedding-3-small",
    validate=validate.Length(min=1, max=150),
)
# Vectors, and places of frequent words, that a process keeps at hand, of all projects together.
VECTOR_CACHE_MB = env.int("GLOSSARY_VECTOR_CACHE_MB", 512, validate=POSITIVE)
WORD_CACHE_MB = env.int("GLOSSARY_WORD_CACHE_MB", 64, validate=POSITIVE)
# Folders below which projects may follow one; empty: none.
FOLDER_ROOTS = env.list("GLOSSARY_FOLDER_ROOTS", [], subcast=Path)
# For disks that do not report changes: look through the folders instead.
FOLDER_POLLING = env.bool("WATCHFILES_FORCE_POLLING", False)
INDEX_RETENTION_DAYS = env.int("GLOSSARY_INDEX_RETENTION_DAYS", 14, validate=POSITIVE)
# Processes that a worker keeps beside its clusters, by name: a function for each.
COMPANIONS = {"folders": "indexing.folders.overseer.main"} if FOLDER_ROOTS else {}

# Repositories: folders below which git repositories of this machine may be collected; empty: none.
GIT_ROOTS = env.list("GLOSSARY_GIT_ROOTS", [], subcast=Path)
GIT_SECONDS = env.int("GLOSSARY_GIT_SECONDS", 1800, validate=POSITIVE)
GIT_MAX_BYTES = env.int("GLOSSARY_GIT_MAX_MB", 4096, validate=POSITIVE) * MEGABYTE
# Repositories that are asked at the same time, in all and of one host.
COLLECTION_PARALLEL = env.int("GLOSSARY_COLLECTION_PARALLEL", 4, validate=POSITIVE)
COLLECTION_PER_HOST = env.int("GLOSSARY_COLLECTION_PER_HOST", 2, validate=POSITIVE)
COLLECTION_ATTEMPTS = env.int("GLOSSARY_COLLECTION_ATTEMPTS", 3, validate=POSITIVE)
COLLECTION_BACKOFF_SECONDS = env.float(
    "GLOSSARY_COLLECTION_BACKOFF_SECONDS", 10, validate=POSITIVE_FLOAT
)
# Ended collections and their results; 0: kept for ever.
COLLECTION_RETENTION_DAYS = env.int("GLOSSARY_COLLECTION_RETENTION_DAYS", 90, validate=NOT_NEGATIVE)

# Background work: django-q2, set as measured (a long task must not be delivered twice, a failed
# one must not come back for ever, and the history of work is ours, not the broker's).
TASK_TIMEOUT = env.int("GLOSSARY_TASK_TIMEOUT", 600, validate=POSITIVE)
LONG_TASK_TIMEOUT = env.int("GLOSSARY_LONG_TASK_TIMEOUT", 6 * 3600, validate=POSITIVE)
# Worker processes for short work and for long work, which never wait for each other.
LANES = {
    "short": env.int("GLOSSARY_WORKERS", 2, validate=POSITIVE),
    "long": env.int("GLOSSARY_LONG_WORKERS", 2, validate=POSITIVE),
}
WORKER_HANG_SECONDS = env.int("GLOSSARY_WORKER_HANG_SECONDS", 60, validate=POSITIVE)
Q_CLUSTER: dict[str, Any] = {
    # The short lane: what names no cluster, such as a schedule of django-q2, runs here.
    "name": "glossary",
    "workers": LANES["short"],
    "timeout": TASK_TIMEOUT,
    "retry": 3 * TASK_TIMEOUT + 1,
    # A few at hand, so that a worker need not wait for the next one to be fetched. One that is
    # fetched and then lost, or delivered twice, does no harm: the row decides.
    "queue_limit": 4,
    "ack_failures": True,
    "max_attempts": 1,
    "save_limit": -1,
    # Only where the database is asked at intervals; SQLite tells of commits (processes/wakeup.py).
    "poll": 0.05,
    # Nothing is ever caught up with: all our timers are cron expressions, which django-q2 reckons
    # from now on. But without it, it compares wall clocks, and in the hour that comes twice when
    # summer time ends it would go round in circles, the whole database locked.
    "catch_up": True,
    # A worker that is recycled is missed for up to half a second. With django-q2's 500 tasks that
    # would happen every second or two under load, for little: short tasks leave little behind.
    "recycle": 20_000,
    "label": _("Task broker"),
    "ALT_CLUSTERS": {
        "glossary-long": {
            "workers": LANES["long"],
            "timeout": LONG_TASK_TIMEOUT,
            "retry": 3 * LONG_TASK_TIMEOUT + 1,
            # Long tasks need much memory, and half a second is nothing to them.
            "recycle": 500,
        }
    },
    **({"redis": environment.broker_url(REDIS_URL)} if REDIS_URL else {"orm": "default"}),
}

# Our own rules for that work (jobs/README.md). A job's timeout ends with its lane's, at the latest.
LANE_TIMEOUTS = {"short": TASK_TIMEOUT, "long": LONG_TASK_TIMEOUT}
JOB_LEASE_SECONDS = env.float("GLOSSARY_JOB_LEASE_SECONDS", 15, validate=POSITIVE)
JOB_CONFIRM_SECONDS = env.float("GLOSSARY_JOB_CONFIRM_SECONDS", 15, validate=POSITIVE)
JOB_BACKOFF_SECONDS = env.float("GLOSSARY_JOB_BACKOFF_SECONDS", 5, validate=POSITIVE_FLOAT)
JOB_BACKOFF_MAX_SECONDS = env.float(
    "GLOSSARY_JOB_BACKOFF_MAX_SECONDS", 600, validate=POSITIVE_FLOAT
)

# Language models
LLM = environment.llm()
LLM_ATTEMPTS = env.int("GLOSSARY_LLM_ATTEMPTS", 6, validate=POSITIVE)
LLM_BACKOFF_SECONDS = env.float("GLOSSARY_LLM_BACKOFF_SECONDS", 1, validate=POSITIVE_FLOAT)
LLM_BATCH_POLL_SECONDS = env.float("GLOSSARY_LLM_BATCH_POLL_SECONDS", 10, validate=POSITIVE_FLOAT)
LLM_LEDGER_DAYS = env.int("GLOSSARY_LLM_LEDGER_DAYS", 90, validate=POSITIVE)
# Of a month and the whole site, where operators set no other; 0: no limit.
LLM_MONTHLY_TOKENS = env.int("GLOSSARY_LLM_MONTHLY_TOKENS", 0, validate=NOT_NEGATIVE)
LLM_MONTHLY_COST = env.decimal("GLOSSARY_LLM_MONTHLY_COST", Decimal(0), validate=NOT_NEGATIVE)
# What providers take in one batch.
LLM_BATCH_REQUESTS = 50_000
LLM_BATCH_BYTES = 200 * MEGABYTE
# So long a worker goes on with one process before others have their turn.
LLM_TURN_SECONDS = 600.0
PRIVATE_URLS_ALLOWED = environment.private_urls_allowed()

# Days that the history of work is kept: logs in the database (then in files), runs, the audit.
LOG_RETENTION_DAYS_DB = env.int("GLOSSARY_LOG_RETENTION_DAYS_DB", 14, validate=POSITIVE)
JOB_RETENTION_DAYS = env.int("GLOSSARY_JOB_RETENTION_DAYS", 90, validate=POSITIVE)
AUDIT_RETENTION_DAYS = env.int("GLOSSARY_AUDIT_RETENTION_DAYS", 365, validate=POSITIVE)

# Live feed
EVENT_RETENTION_DAYS = env.int("GLOSSARY_EVENT_RETENTION_DAYS", 30, validate=POSITIVE)

# REST
REST_FRAMEWORK = {
    # An endpoint is an `ApiView`, which says who comes in and how. What is none lets nobody in.
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "glossary_site.api.errors.handle",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Glossary Site",
    "DESCRIPTION": (
        "Projects and their documents, search, terms, runs and the published glossary; "
        "collection of repositories, live events, background work and language models."
    ),
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "glossary_site.api.strictness.close_bodies",
    ],
    "ENUM_NAME_OVERRIDES": {
        "RoleEnum": "projects.choices.Role",
        "JobStateEnum": "glossary_site.jobs.choices.State",
        "WorkerRoleEnum": "glossary_site.jobs.choices.WorkerRole",
        "StrategyEnum": "glossary_site.llm.choices.Strategy",
        "ProviderKindEnum": "glossary_site.llm.choices.ProviderKind",
        "ProcessStatusEnum": "glossary_site.llm.choices.ProcessStatus",
        "RequestStatusEnum": "indexing.choices.RequestStatus",
        "TermStatusEnum": "projects.choices.TermStatus",
        "ChosenTermStatusEnum": ["candidate", "required", "excluded"],
        "RunStatusEnum": "runs.choices.Status",
        "RunStepEnum": "runs.choices.Step",
        "RunScopeEnum": "runs.choices.Scope",
        "RepositoryKindEnum": "collection.choices.Kind",
        "RepositoryStateEnum": "collection.choices.State",
        "BranchStateEnum": "collection.choices.BranchState",
        "CollectionStatusEnum": "collection.choices.RunStatus",
        "CollectionResultStatusEnum": "collection.choices.ResultStatus",
    },
}

# Security
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}
# Browsers share cookies between ports: two copies on one machine must not sign each other out.
# Named after the database, which all web processes of one copy share.
COPY_ID = hashlib.sha256(str(DATABASES["default"]["NAME"]).encode()).hexdigest()[:8]
SESSION_COOKIE_NAME = f"glossary_session_{COPY_ID}"
CSRF_COOKIE_NAME = f"glossary_csrf_{COPY_ID}"
CSRF_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "glossary_site.views.csrf_failure"
if PRODUCTION:
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    LANGUAGE_COOKIE_SECURE = True
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
if env.bool("GLOSSARY_BEHIND_PROXY", False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    AXES_CLIENT_IP_CALLABLE = "glossary_site.people.address.behind_proxy"

# Logs, traces and metrics (observe/README.md)
LOG_FORMAT = env.str("GLOSSARY_LOG_FORMAT", "", validate=validate.OneOf(["", "json", "text"])) or (
    "json" if PRODUCTION else "text"
)
METRICS_TOKEN = env.str("GLOSSARY_METRICS_TOKEN", "")
# OpenTelemetry reads its other standard variables by itself.
OTEL_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", "")
OTEL_SERVICE_NAME = env.str("OTEL_SERVICE_NAME", "glossary-site")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {"()": "glossary_site.observe.logs.JsonLines"},
        "text": {"()": "glossary_site.observe.logs.TextLines"},
    },
    "filters": {"refusals": {"()": "glossary_site.observe.logs.BrieflyRefused"}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["refusals"],
        }
    },
    "root": {
        "handlers": ["console"],
        "level": env.log_level("GLOSSARY_LOG_LEVEL", logging.WARNING),
    },
    "loggers": {
        "glossary_site": {"level": "INFO"},
        # A line for each request is for programs; a person at a terminal would drown in them.
        "glossary_site.requests": {"level": "INFO" if LOG_FORMAT == "json" else "WARNING"},
        "projects": {"level": "INFO"},
        "indexing": {"level": "INFO"},
        "collection": {"level": "INFO"},
        # Django's own handlers would write beside ours, in another form.
        "django": {"handlers": []},
        "django.server": {"handlers": [], "propagate": True},
        "django-q": {"handlers": ["console"], "level": "WARNING", "propagate": False},
        "axes": {"level": "ERROR"},
        # A collector that is away: one line for what was lost, none for each try.
        "opentelemetry": {"level": "ERROR"},
    },
}

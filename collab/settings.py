"""Django settings, read from the environment. `docs/running.md` lists every variable."""

import secrets
from pathlib import Path

import environ
import structlog

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

DATA_DIR = Path(env.str("ACCORD_DATA", default=str(BASE_DIR / ".accord")))
DATA_DIR.mkdir(parents=True, exist_ok=True)


def kept_secret(path: Path) -> str:
    """Return the secret kept in ``path``, made once when there is none (readable by its owner only)."""
    if not path.exists():
        path.touch(mode=0o600, exist_ok=True)
        path.write_text(secrets.token_urlsafe(50))
    return path.read_text().strip()


SECRET_KEY = env.str("ACCORD_SECRET_KEY", default="") or kept_secret(DATA_DIR / "secret_key")
DEBUG = env.bool("ACCORD_DEBUG", default=False)
ALLOWED_HOSTS: list[str] = env.list("ACCORD_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
HTTPS = env.bool("ACCORD_HTTPS", default=False)
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS] if HTTPS else []

INSTALLED_APPS = [
    "daphne",
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "guardian",
    "csp",
    "ninja",
    "permissions.apps.PermissionsConfig",
    "collab.apps.CollabConfig",
    "agents.apps.AgentsConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "collab.web.form_encoding.OnlyUtf8Forms",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
]

ROOT_URLCONF = "collab.urls"
ASGI_APPLICATION = "collab.asgi.application"

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
            ],
        },
    }
]

# An address that is set and empty, as in a file of settings to fill in, is none.
DATABASES = {"default": env.db_url_config(env.str("DATABASE_URL", "") or f"sqlite:///{DATA_DIR / 'accord.sqlite3'}")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # Deferred transactions fail at once when two of them upgrade to a write; immediate ones queue (STACK, SQLite).
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # Several threads of one process need one file, so tests do not use SQLite's in-memory database.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # Statements are prepared by the server after their fifth time: a decision then takes a quarter of the time.
    DATABASES["default"].setdefault("OPTIONS", {}).setdefault("server_side_binding", True)
    DATABASES["default"]["OPTIONS"].setdefault("prepare_threshold", 5)
    # A process stopped in the middle of a transaction must not keep its threads locked for as long as it sleeps.
    DATABASES["default"]["OPTIONS"].setdefault("options", "-c idle_in_transaction_session_timeout=10000")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Failed tries to sign in are counted here; with room for few, other names would push out the one that is guessed at.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 100_000}}}

# Turns run in processes of their own (`manage.py runner`), woken by jobs in the database.
ACCORD_RUNNERS = env.bool("ACCORD_RUNNERS", default=False)
if ACCORD_RUNNERS and DATABASES["default"]["ENGINE"].endswith("postgresql"):
    INSTALLED_APPS.append("procrastinate.contrib.django")  # for its migrations
PROCRASTINATE_AUTODISCOVER_MODULE_NAME = ""

REDIS_URL = env.str("REDIS_URL", default="")
CHANNEL_LAYERS = {
    "default": (
        {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": None}]},
        }
        if REDIS_URL
        else {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 1000}}
    )
}

AUTH_USER_MODEL = "permissions.User"
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
GUARDIAN_MONKEY_PATCH_USER = False
ANONYMOUS_USER_NAME = None
# Rights are never asked through Django's backends (DESIGN 4), so guardian's is rightly not among them.
SILENCED_SYSTEM_CHECKS = ["guardian.W001"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True
FORMAT_MODULE_PATH = "collab.formats"

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
STATICFILES_DIRS = [BASE_DIR / "collab" / "web" / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("ACCORD_BEHIND_PROXY", default=False) else None
)
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("ACCORD_LOG_LEVEL", default="INFO")},
    "loggers": {"procrastinate": {"level": "WARNING"}},
}

# Tracebacks without local variables: those hold what people wrote and what tools returned.
structlog.configure(
    processors=[
        structlog.stdlib.add_log_level,
        structlog.processors.format_exc_info,
        structlog.processors.KeyValueRenderer(key_order=["event"]),
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
    cache_logger_on_first_use=True,
)

# What Accord itself reads.
ACCORD_MODEL = env.str("ACCORD_MODEL", default="scripted")
ACCORD_LEASE_SECONDS = env.float("ACCORD_LEASE_SECONDS", default=6.0)
ACCORD_GRACE_SECONDS = env.float("ACCORD_GRACE_SECONDS", default=10.0)
ACCORD_DB_THREADS = env.int("ACCORD_DB_THREADS", default=4)
ACCORD_METRICS_TOKEN = env.str("ACCORD_METRICS_TOKEN", default="")
# The fake restaurant and shop of the demo (`manage.py world`), which the tools of those packs ask.
ACCORD_WORLD_URL = env.str("ACCORD_WORLD_URL", default="http://127.0.0.1:8200")
ACCORD_ON_GRANTS_CHANGED = ["collab.doorbell.grants_changed"]
ACCORD_SERVE_STARTS = ["agents.turns.dispatch.start", "agents.clients.mounts.start"]
# What every request and every socket passes first, outside of the middleware.
ACCORD_BEFORE = "agents.clients.http.NoTokensInAddresses"
# What is answered by an ASGI application of its own, outside of the middleware: the beginnings of paths.
ACCORD_MOUNTS = {
    "/hooks/": "agents.sources.hooks.hooks",
    "/api/v1/stream/": "agents.clients.rest.stream.stream",
    "/agui/": "agents.clients.agui.asgi.agui",
    "/mcp": "agents.clients.mounts.mcp",
    "/oauth/": "agents.clients.mounts.oauth",
    "/.well-known/oauth-": "agents.clients.mounts.oauth",
}

UNFOLD = {
    "SITE_TITLE": "Accord",
    "SITE_HEADER": "Accord",
    "SITE_SUBHEADER": "Administration",
    "SITE_ICON": f"{STATIC_URL}accord/icon.svg",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": f"{STATIC_URL}accord/icon.svg"}],
    "STYLES": [f"{STATIC_URL}accord/admin.css"],
    "BORDER_RADIUS": "8px",
    "COLORS": {
        "primary": {
            "50": "#eef2fd",
            "100": "#dfe7fb",
            "200": "#c3d0f5",
            "300": "#a3b6ff",
            "400": "#7f97ee",
            "500": "#8fa6ff",
            "600": "#2f55c8",
            "700": "#2747ab",
            "800": "#223c8c",
            "900": "#1f2f66",
            "950": "#161f40",
        }
    },
    "SIDEBAR": {"navigation": "collab.admin.site.navigation"},
}

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """The site package is an app so that its commands and template tags are found."""

    name = "glossary_site"

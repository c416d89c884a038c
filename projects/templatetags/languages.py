"""Texts of two languages on one page."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from projects.languages import language_of

register = template.Library()


@register.filter
def in_its_language(text: str, otherwise: str = "") -> SafeString:
    """The attribute that has a browser draw and pronounce it rightly on a page of the other one."""
    language = language_of(text) or otherwise
    return format_html(' lang="{}"', language) if language else SafeString()

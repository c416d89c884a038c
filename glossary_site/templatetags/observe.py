from django import template

from glossary_site.observe import trace

register = template.Library()


@register.simple_tag
def trace_id() -> str:
    """By which the log tells what happened in this request."""
    return trace.current_trace_id()


@register.filter
def trace_id_of(carried: str) -> str:
    """Of work that was started in a request: `{{ run.trace_id|trace_id_of }}`."""
    return trace.id_of(carried)

"""Hostile text."""

# Markup that would call pwn(), in the ways that a page may take text for code; one token without a space.
XSS = (
    "<img/src=x/onerror=pwn()><svg/onload=pwn()><script>pwn()</script><a/href='javascript:pwn()'>x</a>"
    "{{7*7}}${pwn()}\"'&amp;</style><br>"
)

"""The processes of the site; README.md draws who starts and watches whom."""

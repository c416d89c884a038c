"""The one door through which an address that a person typed is opened."""

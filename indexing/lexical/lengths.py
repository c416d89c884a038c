"""How words are counted where they are stored, on either database."""

# A word in a heading counts as three in the text.
HEADING_WEIGHT = 3
# More words (or hits) are not told apart: both have ten bits beside the section's number.
LENGTH_BITS = 10
LONGEST = (1 << LENGTH_BITS) - 1

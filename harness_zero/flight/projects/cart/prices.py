"""What things cost, in cents."""

PRICES = {"pen": 120, "notebook": 350, "lamp": 2900}
TAX_PERCENT = 20


def price(item):
    """The price of one item, without tax."""
    return PRICES[item]


def with_tax(cents):
    """The same amount with tax on it."""
    return cents + cents * TAX_PERCENT // 1000

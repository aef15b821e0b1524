"""A shopping cart: items and how many of each."""

from prices import price, with_tax


def total(cart):
    """What the cart costs, with tax, in cents."""
    return with_tax(sum(price(item) for item, count in cart.items()))

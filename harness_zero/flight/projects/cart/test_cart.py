from cart import total
from prices import with_tax


def test_tax_is_a_fifth():
    assert with_tax(1000) == 1200


def test_one_pen():
    assert total({"pen": 1}) == 144


def test_two_lamps_cost_twice_as_much_as_one():
    assert total({"lamp": 2}) == 2 * total({"lamp": 1})


def test_an_empty_cart_costs_nothing():
    assert total({}) == 0

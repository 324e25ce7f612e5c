"""Learning which third-party modules runs import (not yet)."""

import gc


def settle():
    gc.collect()
    gc.freeze()


def tell(descriptor):
    pass


class Learning:
    def __init__(self, wanted, kinds):
        pass

    def wanted(self):
        return False

    def take(self, text):
        pass

    def one_step(self, orders, reaper):
        pass

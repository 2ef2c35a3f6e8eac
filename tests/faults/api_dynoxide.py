#!/usr/bin/env python3
"""Tables behind the DynamoDB API, on dynoxide: all that tests/integration asks of dynalite and moto."""
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "integration"))
import test_api_intents  # noqa: E402
import test_api_share  # noqa: E402
import test_api_share_lost  # noqa: E402
import test_api_store_moto  # noqa: E402


class Dynoxide(test_api_store_moto.Moto):
    kind = "dynoxide"


class DynoxideIntents(test_api_intents.Intents):
    kind = "dynoxide"


class DynoxideShare(test_api_share.Share):
    kind = "dynoxide"


class DynoxideLost(test_api_share_lost.Lost):
    kind = "dynoxide"


del test_api_store_moto.Moto, test_api_intents.Intents, test_api_intents.Halves  # unittest runs what it finds here

if __name__ == "__main__":
    unittest.main()

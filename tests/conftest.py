"""What all tests share: where real logs lie."""

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]

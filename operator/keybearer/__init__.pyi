from keybearer.client import AsyncKeybearer as AsyncKeybearer
from keybearer.client import Keybearer as Keybearer

__all__ = ["AsyncKeybearer", "Keybearer", "__version__"]

__version__: str

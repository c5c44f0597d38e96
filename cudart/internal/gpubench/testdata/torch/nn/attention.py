from torch import everything

__getattr__ = everything(__name__)

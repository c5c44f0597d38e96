from torch import Anything, everything


class Module(Anything):
    pass


Sequential = ModuleList = Linear = Conv2d = BatchNorm2d = Module
__getattr__ = everything(__name__)

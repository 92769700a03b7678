"""SGLang's CUDA and AMX kernels, by name only: without their operators SGLang computes in plain PyTorch."""

from names_only import attributes_of

__version__ = "0.3.21+names"
__getattr__ = attributes_of("sgl_kernel", absent=("scalar_type",))  # SGLang has its own where this one is missing

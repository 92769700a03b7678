"""Image transforms, by name only: no image is ever sent."""

from names_only import attributes_of

__version__ = "0.28.0+names"
__getattr__ = attributes_of("torchvision")

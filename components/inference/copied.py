"""Imported first by the process that workers are copies of: nothing that it loads becomes garbage."""

import gc

gc.disable()  # to look for some takes a tenth of that time; a copy looks again

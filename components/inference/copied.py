"""Imported first by the process that workers are copies of: while torch is loaded, nothing becomes garbage."""

import gc

gc.disable()  # to look for some takes a tenth of that time; a copy looks again

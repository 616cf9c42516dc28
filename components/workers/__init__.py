"""Workers: processes that have jobs run, so that the process of the page needs no torch."""

"""Fits the folds of the lab on every core of this machine, each fold in a process of its own.

One process cannot: the steps of a fit are so short that threads wait for Python's lock, or for each other.
"""

from __future__ import annotations

from importlib import import_module
from threading import Thread
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from components.inference.jobs import Job, Validate
from components.lab.folds import fitted_fold, folds_of, joined_folds
from components.lab.lab import Run
from components.model.machine import cores, total

FEW = 500  # rows: their folds are fitted sooner than processes have begun
ROOM = 4  # times the bytes of the vectors, for each process: its fold copies its rows, half is left


class OnCores:
    """A `Run` that gives fits to processes, one for each core, and all other jobs to ``here``.

    They begin at once, so that they have loaded scikit-learn when this process has loaded torch.
    """

    def __init__(self, here: Run) -> None:
        self._here = here
        load = delayed(import_module)("components.lab.validation")
        self._begun = Thread(target=Parallel(n_jobs=cores()), args=[[load] * cores()], daemon=True)
        self._begun.start()

    def __call__(self, job: Job[Any]) -> Any:
        """The answer to a job."""
        if not isinstance(job, Validate):
            return self._here(job)
        self._begun.join()
        at_once = min(cores(), total() // (ROOM * job.vectors.nbytes))
        if at_once < 2:
            return self._here(job)
        folds = [delayed(fitted_fold)(fold, job.vectors) for fold in folds_of(job)]
        try:  # where the vectors (N, D') are many, all processes map one file of them into memory
            return joined_folds(Parallel(n_jobs=at_once)(folds))
        except TerminatedWorkerError:  # the system has ended one of them, for its memory most of the time
            return self._here(job)

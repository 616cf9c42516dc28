"""Deployment: what Ray Serve keeps running, between limits, with the code and the settings of this page."""

from __future__ import annotations

import logging
import os

import ray
from ray import serve
from ray.serve.handle import DeploymentHandle

from components.inference.replicas.fingerprint import ROOT, fingerprint
from components.inference.replicas.messages import Plan
from components.inference.replicas.replica import Replica

APP = "poolscope"
ONGOING = 8  # questions that a replica has at once: one is at work, and the others need not come first
EACH = 3.0  # of them, on average, beyond which there should be another replica
ASIDE = {"OMP_NUM_THREADS": "1"}  # unless the owner says otherwise, as in workers
PASSED_ON = (*ASIDE, "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE")  # of this process's environment


def connect(address: str) -> None:
    """Become part of the cluster there; ConnectionError where there is none."""
    ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
    logging.getLogger("ray.serve").setLevel(logging.WARNING)


def deploy(plan: Plan) -> DeploymentHandle[bytes]:
    """Have replicas run as planned, and return at once: how many there are is said by `running`.

    All pages share them, and they outlive the pages. A page of another version, or with other settings, has
    them replaced.
    """
    deployment = serve.deployment(
        name=Replica.__name__,
        ray_actor_options={"num_cpus": 1, "runtime_env": {"env_vars": environment()}},
        autoscaling_config={
            "min_replicas": plan.least,
            "max_replicas": plan.most,
            "target_ongoing_requests": EACH,
        },
        max_ongoing_requests=ONGOING,
        max_constructor_retry_count=2**31 - 1,  # it recovers by itself
        health_check_period_s=1,
        graceful_shutdown_timeout_s=plan.seconds,
        logging_config={"enable_access_log": False},
    )(Replica)
    # Without a version, Serve would begin every replica anew for each page that starts.
    same = deployment.options(version=fingerprint(plan), _internal=True)
    serve.start(proxy_location="Disabled")
    handle: DeploymentHandle[bytes]
    (handle,) = serve.run_many(
        [serve.RunTarget(same.bind(plan), name=APP, route_prefix=None)],
        wait_for_applications_running=False,
    )
    return handle


def running() -> int | None:
    """How many replicas can be asked; None where nothing is deployed any longer."""
    found = serve.status().applications.get(APP)
    if found is None:
        return None
    states = [count for one in found.deployments.values() for count in one.replica_states.items()]
    there: int = sum(count for state, count in states if state == "RUNNING")
    return there


def environment() -> dict[str, str]:
    """The environment of a replica."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    given = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return ASIDE | given | {"PYTHONPATH": path}

"""A Ray cluster on this machine, with two replicas that answer at a port, until the input ends."""

import sys

import ray
from ray import serve

from components.inference.cluster import app

ray.init(num_cpus=2, object_store_memory=80_000_000, include_dashboard=False, log_to_driver=False)
serve.start(http_options={"port": int(sys.argv[1])})
serve.run(app({}))
sys.stdin.read()

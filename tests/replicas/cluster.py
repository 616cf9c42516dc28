"""Two nodes of a Ray cluster on this machine, at the port that is given, until its input ends."""

import sys

from ray.cluster_utils import Cluster

SMALL = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}  # little shared memory

cluster = Cluster(initialize_head=True, head_node_args={**SMALL, "gcs_server_port": int(sys.argv[1])})
try:
    cluster.add_node(**SMALL)
    print(cluster.address, flush=True)
    sys.stdin.read()
finally:
    cluster.shutdown()

"""Two nodes of a Ray cluster on this machine, at a port, with so many CPUs each, until the input ends."""

import sys

from ray.cluster_utils import Cluster

SMALL = {  # little shared memory
    "num_cpus": int(sys.argv[2]),
    "object_store_memory": 80_000_000,
    "include_dashboard": False,
}

cluster = Cluster(initialize_head=True, head_node_args={**SMALL, "gcs_server_port": int(sys.argv[1])})
try:
    cluster.add_node(**SMALL)
    print(cluster.address, flush=True)
    sys.stdin.read()
finally:
    cluster.shutdown()

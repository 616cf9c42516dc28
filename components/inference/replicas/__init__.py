"""Replicas: processes of a Ray cluster that have jobs run, on this machine and on others."""

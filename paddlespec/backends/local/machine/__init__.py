"""Query this machine: processes, ports, addresses, devices."""

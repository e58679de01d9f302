"""This machine as its system shows it: processes, ports, addresses, devices."""

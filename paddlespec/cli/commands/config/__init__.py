"""`config`: datacenters, how the user reaches them, and which one is current."""

"""Stand-ins for remote services on real packaged prices; modelled values are marked."""

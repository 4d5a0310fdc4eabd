"""The simulated investor: what is asked, what is answered, when to close; one validator for every back end."""

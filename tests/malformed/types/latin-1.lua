-- grüße
lattice = {}

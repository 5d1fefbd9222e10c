A□ P.A

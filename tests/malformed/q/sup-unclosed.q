sup{P.A: x

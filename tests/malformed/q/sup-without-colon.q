sup{P.A} x

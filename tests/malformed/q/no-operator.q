P.A and P.B

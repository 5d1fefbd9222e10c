P.A -> P.B

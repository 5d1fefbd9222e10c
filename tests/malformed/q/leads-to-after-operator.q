A[] P.A --> P.B

P.A --> P.B --> P.C

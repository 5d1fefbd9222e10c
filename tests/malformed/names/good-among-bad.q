A[] n == 0

E<> Q.B

A[] nn == 0

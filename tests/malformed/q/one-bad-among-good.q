E<> P.A
A[] )
E<> P.B

A[] E<> P.A

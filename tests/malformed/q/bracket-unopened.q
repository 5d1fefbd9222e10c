E<> P.A)

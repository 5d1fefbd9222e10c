E<> P.A and

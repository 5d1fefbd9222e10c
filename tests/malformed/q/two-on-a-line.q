E<> P.A E<> P.B

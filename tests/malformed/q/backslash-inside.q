E<> P.A \ and P.B

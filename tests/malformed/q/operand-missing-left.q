E<> and P.A

E<> P.

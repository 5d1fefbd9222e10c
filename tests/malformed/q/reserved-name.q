E<> P.init

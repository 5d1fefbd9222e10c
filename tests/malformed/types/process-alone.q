E<> Q

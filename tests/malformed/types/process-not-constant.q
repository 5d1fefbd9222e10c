E<> P(n).A

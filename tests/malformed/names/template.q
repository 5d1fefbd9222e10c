E<> T.A

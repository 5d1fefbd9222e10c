E<> c

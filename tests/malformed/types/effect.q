E<> next() == 1

E<> next == 1

E<> s.add(1)

sup: s.contains(1)

A[] s.has(1) == 0

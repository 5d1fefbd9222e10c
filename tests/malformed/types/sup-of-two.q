sup: n, n + 1

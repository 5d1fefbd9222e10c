sup: a

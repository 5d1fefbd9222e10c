inf{n > 0}: c

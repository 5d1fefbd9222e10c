inf{}: x

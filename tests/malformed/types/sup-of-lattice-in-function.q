sup: count()

A[] pair.third == 0

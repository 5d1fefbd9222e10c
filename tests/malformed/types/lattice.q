A[] s

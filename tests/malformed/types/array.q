A[] a

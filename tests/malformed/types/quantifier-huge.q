A[] forall (i : int[0, 999]) forall (j : int[0, 999]) forall (k : int[0, 999]) n < i + j + k

A[] forall (i : int[0, 9]) not P(i).B

A[] forall (i) P(i).A

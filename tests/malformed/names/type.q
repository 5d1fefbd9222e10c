A[] forall (i : idd) a[i] == 0

A[] nxet() == 0

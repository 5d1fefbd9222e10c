sup{Q.C}: n

/* Mutual exclusion. */
A[] not (P(1).cs && P(2).cs)
/* One may be inside while others wait. */
E<> P(1).cs && P(2).wait && P(3).wait
/* Nobody enters before its time: the guard is x >= 64, and x is not reset inside. */
E<> P(1).cs && P(1).x < 64
/* Invariants hold. */
A[] forall (i : id_t) P(i).req imply P(i).x <= 32
/* Requests last at most 32, so this is wrong. */
A[] forall (i : id_t) P(i).req imply P(i).x < 32

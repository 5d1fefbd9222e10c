/* Mutual exclusion. */
A[] not (P(1).CS7 && P(2).CS7)
E<> P(1).CS7 && v2
/* L4 is entered after T, and c is not reset. */
E<> P(1).L4 && P(1).c <= T

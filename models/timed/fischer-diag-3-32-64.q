/* Mutual exclusion, which rests on x - y <= a. */
A[] not (P(1).cs && P(2).cs)
E<> P(1).cs && P(2).wait
/* The guard forbids it, and no clock is reset inside. */
E<> P(1).cs && P(1).x - P(1).y > 32

/* Collisions are noticed within twice the propagation delay. */
A[] not (Station(0).transm && Station(1).transm && Station(0).x > 2 * SIGMA)
/* Within it they happen. */
A[] not (Station(0).transm && Station(1).transm)
/* Of two that transmit, one has begun less than SIGMA ago. */
A[] not (Station(0).transm && Station(1).transm && Station(0).x >= SIGMA && Station(1).x >= SIGMA)
E<> Bus.transmit

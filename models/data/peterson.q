// Never both at once.
A[] not (P(0).Critical and P(1).Critical)

// No deadlock.
A[] not deadlock

// Each can get in.
E<> P(1).Critical

// Both can want to at the same time.
E<> forall (i : id_t) P(i).Wait

// Everybody holds the left fork and waits for the right one.
A[] not deadlock

// Neighbours never eat together.
A[] forall (i : id_t) not (Philosopher(i).Eating and Philosopher((i + 1) % N).Eating)

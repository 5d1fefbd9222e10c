// At most one train on the bridge: the gate is committed to stopping the next one before anything else happens.
A[] forall (i : id_t) forall (j : id_t) Train(i).Crossing and Train(j).Crossing imply i == j

// The queue never holds a train twice.
A[] forall (i : int[0, N-2]) i + 1 < waiting.len imply waiting.list[i] != waiting.list[i + 1]

// The queue can be full.
sup: waiting.len

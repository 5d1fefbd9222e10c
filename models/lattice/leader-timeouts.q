// One leader at most.
A[] forall (i : id_t) forall (j : id_t) (Agent(i).Leader && Agent(j).Leader) imply i == j

// Nobody leads before waiting.
A[] forall (i : id_t) Agent(i).Leader imply now >= WAIT

// The smallest may lead if the others have stopped.
E<> Agent(0).Leader

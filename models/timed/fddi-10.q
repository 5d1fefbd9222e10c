/* One token: no two stations hold it. */
A[] not (Station(1).q1 && Station(2).q1)
A[] forall (i : id_t) forall (j : id_t) i < j imply not (Station(i).q2 && Station(j).q2)
E<> Ring.id == N

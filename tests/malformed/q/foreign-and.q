E<> P.A ∧ P.B

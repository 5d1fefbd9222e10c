E<> P.A /* can it

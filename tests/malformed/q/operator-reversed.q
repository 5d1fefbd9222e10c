A>< P.A

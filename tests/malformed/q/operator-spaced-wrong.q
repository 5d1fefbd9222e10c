A[ ]] P.A

A[ n == 0 U Q.B ]

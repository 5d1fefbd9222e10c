Q.B --> Q.C

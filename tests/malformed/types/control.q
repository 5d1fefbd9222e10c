control: A<> Q.B

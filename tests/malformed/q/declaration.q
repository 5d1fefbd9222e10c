int a;
E<> a == 1

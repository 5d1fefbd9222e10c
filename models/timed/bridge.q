// Can all four be over in time?
E<> T1.Far and T2.Far and T3.Far and T4.Far \
    and y <= Limit

/*
 The torch is on one side or on the other.
*/
A[] torch == 0 or torch == 1;

T1.Crossing --> T1.Far
E<> Clockwork.Over and
    (over == 4
     or over == 0)

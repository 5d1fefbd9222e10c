// The token comes to every station.
A<> Station(3).Holding

// Nobody hears a fourth time before the bell rings: the alarm goes first.
A[] Station(3).Holding imply Bell.Ringing

// It goes round forever.
Station(0).Holding --> Station(2).Holding

// It may go round without ever stopping.
E[] not deadlock

// It cannot stay with one station.
E[] not Station(1).Holding

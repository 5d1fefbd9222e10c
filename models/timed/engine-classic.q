// After engine.q of Pettersson and Lindahl (Uppsala 1997), which numbers them so and says that they hold.
// P1, P2
E<> GearControl.GearChanged
E<> Interface.Gear5
// P3
E<> (GearControl.GearChanged and SysTimer <= 1000)
// P5 b
A[] (Interface.GearN imply GearBox.Neutral)
// P6 a, a', b, b'
A[] ((ErrStat == 0 and UseCase == 0 and SysTimer >= 900) imply (GearControl.GearChanged or GearControl.Gear))
E<> (ErrStat == 0 and UseCase == 0 and SysTimer > 899 and SysTimer < 900 and \
     not (GearControl.GearChanged or GearControl.Gear))
A[] ((ErrStat == 0 and UseCase == 0 and SysTimer < 150) imply not GearControl.GearChanged)
E<> (ErrStat == 0 and UseCase == 0 and GearControl.GearChanged and SysTimer == 150)
// P8 a, b'
A[] ((ErrStat == 0 and UseCase == 2 and SysTimer >= 1205) imply (GearControl.GearChanged or GearControl.Gear))
E<> (UseCase == 2 and GearControl.GearChanged and SysTimer == 450)
// P9 a
A[] ((Clutch.ErrorClose and GCTimer > 200) imply GearControl.CCloseError)
// P16
A[] (Engine.Torque imply Clutch.Closed)
// P6 b with the bound moved by one, which breaks it: b' is why.
A[] ((ErrStat == 0 and UseCase == 0 and SysTimer < 151) imply not GearControl.GearChanged)

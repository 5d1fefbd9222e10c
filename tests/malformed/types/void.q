E<> reset()

// The receiver never takes an old message for a new one.
A[] not Receiver.Wrong

// All messages can get through.
E<> Sender.Done and Receiver.expected == N

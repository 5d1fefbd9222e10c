/* A door that opens and closes; no call ever opens a locked one. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

enum state { OPEN, CLOSED, LOCKED };

int main(void) {
  enum state door = CLOSED;
  while (1) {
    switch (__VERIFIER_nondet_int()) {
    case 0:
      if (door == CLOSED)
        door = OPEN;
      break;
    case 1:
      if (door == OPEN)
        door = CLOSED;
      break;
    case 2:
      if (door == CLOSED)
        door = LOCKED;
      break;
    case 3:
      if (door == LOCKED)
        door = CLOSED;
      break;
    default:
      continue;
    }
    if (door > LOCKED)
      reach_error();
  }
}

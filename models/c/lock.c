/* A lock is taken twice, and released, by turns: never the same twice in a row (after the example of SLAM and BLAST). */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int locked = 0;

void lock(void) {
  if (locked)
    reach_error();
  locked = 1;
}

void unlock(void) {
  if (!locked)
    reach_error();
  locked = 0;
}

int main(void) {
  unsigned old = 0, new = 0;
  do {
    lock();
    old = new;
    if (__VERIFIER_nondet_int()) {
      unlock();
      new++;
    }
  } while (new != old);
  unlock();
  return 0;
}

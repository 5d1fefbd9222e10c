/* Counts up to any number; the loop needs an invariant that mentions it. */
extern int __VERIFIER_nondet_int(void);

int main(void) {
  int n = __VERIFIER_nondet_int();
  int x = 0;
  if (n < 0)
    return 0;
  while (x < n) {
    x = x + 1;
  }
  assert(x == n);
  return 0;
}

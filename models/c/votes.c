/* Three votes, and a majority that is counted wrongly. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

int votes[3];

int sum(void) {
  int total = 0;
  for (int i = 0; i < 3; i++)
    total += votes[i];
  return total;
}

int main(void) {
  for (int i = 0; i < 3; i++)
    votes[i] = __VERIFIER_nondet_int() > 0;
  int majority = (votes[0] && votes[1]) || (votes[1] && votes[2]);
  if (majority != (sum() >= 2))
    reach_error();
  return 0;
}

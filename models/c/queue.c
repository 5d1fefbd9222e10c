/* Three nodes in a ring; a pointer goes around, and what it points to is taken and given back. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

struct node {
  int taken;
  struct node *next;
};

struct node third, second = {0, &third}, first = {0, &second};

static void take(struct node *n) {
  if (n->taken) reach_error();
  n->taken = 1;
}

static void give_back(struct node *n) {
  if (!n->taken) reach_error();
  n->taken = 0;
}

int main(void) {
  struct node *here = &first;
  third.next = &first;
  while (__VERIFIER_nondet_int()) {
    take(here);
    if (__VERIFIER_nondet_int()) here->next->taken = 0;
    give_back(here);
    here = here->next;
  }
  return 0;
}

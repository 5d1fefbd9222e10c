/* The clock wraps around once in a while, and goes on: what was is before what is, again and again. */
int was = 0, is = 0;

int main() {
  while (1) {
    was = is;
    is = was + 1;
  }
}

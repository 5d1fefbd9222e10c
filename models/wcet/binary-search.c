// Binary search in an array of 100 elements, as in 000 §2.3: twice, so that the second search finds the first one's blocks in the cache.
//
//   trellis wcet models/wcet/binary-search.c --cache lru:2x8

#define SIZE 100

extern int __VERIFIER_nondet_int(void);

int main(void) {
    int array[SIZE];
    for (int run = 0; run < 2; run++) {
        int key = __VERIFIER_nondet_int();
        int low = 0, high = SIZE;
        while (low < high) {
            int middle = (low + high) / 2;
            int entry = array[middle];
            if (entry == key) {
                low = middle;
                high = middle;
            } else if (entry < key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
    }
    return 0;
}

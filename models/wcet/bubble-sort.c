// Bubble sort. How often entries are exchanged depends on the data; the longest run exchanges always.
//
//   trellis wcet models/wcet/bubble-sort.c --cache lru:2x4

#define SIZE 8

int main(void) {
    int array[SIZE];
    for (int last = SIZE - 1; last > 0; last--) {
        for (int i = 0; i < last; i++) {
            int left = array[i];
            int right = array[i + 1];
            if (left > right) {
                array[i] = right;
                array[i + 1] = left;
            }
        }
    }
    return 0;
}

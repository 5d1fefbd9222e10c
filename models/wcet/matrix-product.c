// The product of two matrices. Nothing depends on the data: there is one run, as far as the cache is concerned.
//
//   trellis wcet models/wcet/matrix-product.c --cache lru:2x8

#define N 4

int main(void) {
    int a[N * N], b[N * N], c[N * N];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            int sum = 0;
            for (int k = 0; k < N; k++) {
                sum = sum + a[i * N + k] * b[k * N + j];
            }
            c[i * N + j] = sum;
        }
    }
    return 0;
}

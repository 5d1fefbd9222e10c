// It ends with N exactly.
A[] Loop.End imply !x.mayBeGreater(N) && !x.mayBeLess(N)

A[] !x.mayBeLess(0)

E<> ProdCell(1).error
A[] ProdCell(1).critical imply ProdCell(1).x <= B
/* The counter goes on while a cell is inside, and lets in another. */
A[] not (ProdCell(1).critical && ProdCell(2).critical)

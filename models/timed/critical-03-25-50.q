E<> ProdCell(1).error
A[] forall (i : id_t) ProdCell(i).critical imply ProdCell(i).x <= B
/* The counter goes on while a cell is inside, and lets in another. */
A[] not (ProdCell(1).critical && ProdCell(2).critical)

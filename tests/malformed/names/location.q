A[] not Q.Bee

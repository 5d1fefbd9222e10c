A[] not R.A

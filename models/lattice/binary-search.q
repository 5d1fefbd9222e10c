// The worst-case execution time.
sup{Search.Done}: Search.cost

// It is a bound.
A[] Search.cost <= BOUND

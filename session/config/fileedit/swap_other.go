//go:build !linux && !darwin

package fileedit

// swap is not known here: the comparison before the rename is what there is.
func swap(_, _ string) error { return errNoSwap }

// Package near measures how far two names are apart, for the hints in errors
// that ask whether another name was meant. It promises nothing about which
// names are worth a hint: that depends on what they name.
package near

// Distance counts the letters to insert, delete, replace or swap with their
// neighbour to make one name the other (optimal string alignment). Case
// counts. It takes time in the product of the lengths: bound what comes from
// outside.
func Distance(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	before, prev, cur := make([]int, len(rb)+1), make([]int, len(rb)+1), make([]int, len(rb)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(ra); i++ {
		cur[0] = i
		for j := 1; j <= len(rb); j++ {
			cost := 1
			if ra[i-1] == rb[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && ra[i-1] == rb[j-2] && ra[i-2] == rb[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(rb)]
}

package figures

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5},
	} {
		before := append([]float64(nil), test.values...)
		if got := Median(test.values); got != test.want {
			t.Errorf("Median(%v) = %v, want %v", test.values, got, test.want)
		}
		if !cmp.Equal(before, append([]float64(nil), test.values...)) {
			t.Errorf("Median changed %v to %v", before, test.values)
		}
	}
}

func TestQuantile(t *testing.T) {
	ten := []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	for _, test := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{nil, 0.5, 0}, {[]float64{7}, 0, 7}, {[]float64{7}, 1, 7},
		{ten, 0, 1}, {ten, 0.1, 1}, {ten, 0.11, 2}, {ten, 0.5, 5}, {ten, 0.99, 10}, {ten, 1, 10},
	} {
		if got := Quantile(test.values, test.q); got != test.want {
			t.Errorf("Quantile(%v, %v) = %v, want %v", test.values, test.q, got, test.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		name         string
		aim          Aim
		ours, theirs Cell
		want         string
	}{
		{"no aim", Aim{}, Cell{9}, Cell{1}, ""},
		{"at the factor", Aim{Factor: 2, Of: "relay"}, Cell{2}, Cell{1}, "ok"},
		{"over the factor", Aim{Factor: 2, Of: "relay"}, Cell{2.1}, Cell{1}, "over"},
		{"medians count", Aim{Factor: 2, Of: "relay"}, Cell{1, 2, 90}, Cell{1}, "ok"},
		{"nothing to compare with", Aim{Factor: 2, Of: "relay"}, Cell{2}, nil, ""},
		{"at the most", Aim{Most: 80}, Cell{80}, nil, "ok"},
		{"over the most", Aim{Most: 80}, Cell{80.5}, nil, "over"},
		{"not measured", Aim{Most: 80}, nil, Cell{1}, ""},
	} {
		r := Row{Aim: test.aim, Cells: map[string]Cell{"ours": test.ours, "relay": test.theirs}}
		if got := r.Verdict("ours"); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestWrite(t *testing.T) {
	rows := []Row{
		{Name: "a call", What: "us", Aim: Aim{Factor: 2, Of: "relay"}, Cells: map[string]Cell{"ours": {70.04, 60, 90}, "relay": {35.02, 30, 40}}},
		{Name: "a call", What: "us of CPU", Cells: map[string]Cell{"ours": {31.25}, "relay": {7.5}, "sdk": {150.4}}},
		{Name: "binary", What: "MB", Aim: Aim{Most: 20}, Cells: map[string]Cell{"ours": {20.5}}},
	}
	var got strings.Builder
	if err := Write(&got, []string{"ours", "relay", "sdk", "codex"}, rows); err != nil {
		t.Fatal(err)
	}
	want := `
                          ours        relay  sdk  /relay  /sdk  aim
a call  us         70.0 (60.0)  35.0 (30.0)    -    2.00     -  <= 2x relay  ok
        us of CPU         31.2         7.50  150    4.17  0.21
binary  MB                20.5            -    -       -     -  <= 20        over
`
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got.String()); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
}

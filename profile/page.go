// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/tpsl/tpsl/internal/terminal"
)

//go:embed page/page.html
var pageHTML string

//go:embed page/page.css
var pageCSS string

//go:embed page/page.js
var pageJS string

// pageTemplate is read at its first use, as mpiexec writes a page for few jobs.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"seconds": seconds, "size": size, "count": count, "percent": percent}).Parse(pageHTML))
})

// Page writes the profile as one HTML file that needs no network.
func (p *Profile) Page(w io.Writer) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return pageTemplate().Execute(w, newView(p.summarize()))
}

const (
	pageRows  = 20  // of most tables that are shown before somebody asks for all
	pagePairs = 200 // of the table behind the matrix
)

// A view is what the template of the page takes.
type view struct {
	CSS    template.CSS
	JS     template.JS
	Policy template.HTMLAttr

	Command              string
	Facts                []fact
	Started              string
	Unusual              []string
	Answers              []fact
	Efficiencies         []meter
	EfficiencyDefinition string
	TimeBase             string
	UnknownWait          string
	BytesTold            string
	CountsOnce           string
	SizesTold            string
	NotMeasured          string
	Advice               []fact
	Ranks                *listing
	PartsDefinition      string
	Sites                *listing
	Places               []fact // where those of the sites are
	Matrix               bool
	Moved                string
	Pairs                *listing
	Choices, Sizes       *listing
	Usages, Delays       *listing
	LatenessDefinition   string
	Clocks               string
	Notes                []string
	Data                 data
}

type fact struct{ Name, Text string }

// A meter is a share with a sentence.
type meter struct {
	Name, Share, Sentence string
	Percent               float64
}

// A listing is a table. Rows behind the first ones are shown when somebody asks.
type listing struct {
	ID, Caption string
	Seen        bool // the caption is shown: the heading does not say the same
	Heads       []heading
	Rows        [][]cell
	Marked      map[int]bool // rows that the reader should see first
	Cut         string       // what the button says that shows all; "" if all rows are shown
	Few         bool         // shownPairs rows are shown at first, and not pageRows
}

type heading struct {
	Text string
	Left bool // words, and no numbers
	Sort string
	Wide bool
}

// A cell has a text, and what else its kind needs.
type cell struct {
	Text  string
	Title string // more of the text
	Left  bool   // words, and no numbers
	Code  bool   // a name from the program
	Value string // to sort by
	Bar   []part // a bar in place of the text
}

// A part of a bar is a share of its width.
type part struct {
	Kind    string // class in the style sheet
	Percent float64
}

// data is what the script of the page draws.
type data struct {
	Ranks  *chartData  `json:"ranks,omitempty"`
	Matrix *matrixData `json:"matrix,omitempty"`
}

// chartData are the parts of the run time of each rank, in 1/10,000 of it.
type chartData struct {
	Names    []string `json:"names"`
	Runtime  float64  `json:"runtime"` // seconds
	Compute  []int    `json:"compute"`
	Wait     []int    `json:"wait"`
	Either   []int    `json:"either"`
	Transfer []int    `json:"transfer"`
}

// matrixData is the matrix. A layer is n*n numbers, row by row, as codes of 16 bits, little endian, in base 64. A code q below repeats stands for
// 2^(q/1024)-1, and another one for the number before it, q-repeats+1 times more. Decompression by the browser would be asynchronous, so that
// the first picture of a page would lack the matrix.
type matrixData struct {
	Names     []string            `json:"names"`
	Processes [][2]int            `json:"processes"` // first node, and the one behind the last
	Hosts     [][2]int            `json:"hosts"`
	Layers    map[string][]string `json:"layers"` // by way: counts, bytes
}

func newView(s *summary) *view {
	hash := sha256.Sum256([]byte(pageJS))
	v := &view{
		CSS: template.CSS(pageCSS), JS: template.JS(pageJS),
		Policy: template.HTMLAttr(`content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-` +
			base64.StdEncoding.EncodeToString(hash[:]) + `'"`),
		Command: terminal.Printable(cut(s.Job.Command, 2000)), Started: s.started(), Unusual: printable(s.unusual()), EfficiencyDefinition: efficiencyDefinition, NotMeasured: notMeasured,
		PartsDefinition: partsDefinition, TimeBase: timeBase, UnknownWait: unknownWait, BytesTold: bytesTold, CountsOnce: countsOnce, SizesTold: sizesTold,
		LatenessDefinition: latenessDefinition, Clocks: s.clocks(), Notes: printable(s.Notes),
	}
	v.Facts, v.Places = s.facts(), s.places()
	for _, a := range s.answers() {
		v.Answers = append(v.Answers, fact{a.question, terminal.Printable(a.text)})
	}
	if len(s.counted) > 0 {
		for _, e := range s.efficiencySentences() {
			v.Efficiencies = append(v.Efficiencies, meter{e.name, percent(e.value), e.sentence, round(100 * e.value)})
		}
	}
	for _, a := range s.advice() {
		v.Advice = append(v.Advice, fact{terminal.Printable(a.text), terminal.Printable(a.reason)})
	}
	v.Ranks, v.Sites, v.Choices, v.Sizes, v.Usages, v.Delays = s.rankListing(), s.siteListing(), s.choiceListing(), s.sizeListing(), s.usageListing(), s.delayListing()
	v.Data.Ranks = s.chart()
	if s.total.count == 0 {
		return v
	}
	nodes, of := s.nodes()
	m := s.traffic.matrix(of)
	v.Matrix, v.Pairs = true, s.pairListing(nodes, m)
	v.Moved = s.movedLine()
	v.Data.Matrix = s.matrixData(nodes, m)
	return v
}

// facts are the head line.
func (s *summary) facts() []fact {
	all := []fact{
		{"Ranks", count(float64(len(s.Ranks)))},
		{"Processes", count(float64(s.processes))},
		{"Hosts", fmt.Sprintf("%d: %s", s.usedHosts(), s.hostNames())},
		{"CPUs of hosts", s.cpus()},
		{"Elapsed", seconds(s.Job.Elapsed)},
		{"In MPI", percent(s.mpiShare()) + " of all ranks' time"},
		{"Layout", s.layout()},
		{"MPI library", s.Job.Library},
		{"Launcher", "tpsl " + s.Job.Version},
	}
	if !s.Job.Began.IsZero() {
		all = append(all, fact{"Began", s.Job.Began.Format("2006-01-02 15:04:05 -0700")})
	}
	for i := range all {
		all[i].Text = terminal.Printable(all[i].Text)
	}
	return slices.DeleteFunc(all, func(f fact) bool { return f.Text == "" })
}

func printable(lines []string) []string {
	all := make([]string, len(lines))
	for i := range lines {
		all[i] = terminal.Printable(lines[i])
	}
	return all
}

// places lists the places of all sites, each once.
func (s *summary) places() (all []fact) {
	seen := map[int]bool{Other: true}
	for i := range s.sites {
		if place := s.sites[i].place; !seen[place] {
			seen[place] = true
			all = append(all, fact{terminal.Printable(s.where(place)), terminal.Printable(s.whole(place))})
		}
	}
	return all
}

// round keeps what a drawing can show.
func round(x float64) float64 { return math.Round(100*x) / 100 }

// word and code are names; what would change the order of characters around them, or cannot be seen, stands as in strings of Go.
func word(text string) cell { return cell{Text: terminal.Printable(text), Left: true} }

func code(text, title string) cell {
	return cell{Text: terminal.Printable(text), Title: terminal.Printable(title), Left: true, Code: true}
}

// value is a number with its text. To sort by, six digits are enough.
func value(x float64, write func(float64) string) cell {
	return cell{Text: write(x), Value: strconv.FormatFloat(x, 'g', 6, 64)}
}

// waitCell is known waiting. What is not known is sorted behind all that is.
func waitCell(w waiting, whole float64) cell {
	c := value(share(w.wait, whole), percent)
	if w.unknown {
		c = cell{Text: "-", Title: "Not known: these calls wait or transfer, and sums do not tell which.", Value: "-1"}
	}
	return c
}

// movedCell is a number of bytes, with a word on what was done with them.
func movedCell(function string, bytes float64) cell {
	c := value(bytes, size)
	if word := moved(function); word != "" && bytes > 0 {
		c.Text += " " + word
	}
	return c
}

// numbered is a number that is a name.
func numbered(n int, name string) cell { return cell{Text: name, Value: strconv.Itoa(n)} }

// shareBar is a bar of one part.
func shareBar(share float64) cell { return cell{Left: true, Bar: []part{{"some", round(100 * share)}}} }

// finish says how many rows there are, if not all are shown.
func (l *listing) finish() *listing {
	shown := pageRows
	if l.Few {
		shown = shownPairs
	}
	if len(l.Rows) > shown {
		l.Cut = fmt.Sprintf("Show all %s rows", count(float64(len(l.Rows))))
	}
	return l
}

// rankListing has all ranks that were counted, those that compute longest first if not all are shown.
func (s *summary) rankListing() *listing {
	l := &listing{ID: "ranks-table", Caption: "Time of ranks", Heads: []heading{
		{Text: "Rank", Sort: "none"}, {Text: "Of the run time", Left: true, Wide: true}, {Text: "Compute", Sort: "none"}, {Text: "Wait", Sort: "none"}, {Text: "Either", Sort: "none"},
		{Text: "Transfer", Sort: "none"}, {Text: "Process", Sort: "none"}, {Text: "Host", Left: true, Sort: "none"},
	}}
	order := slices.Clone(s.counted)
	l.Heads[0].Sort = "ascending"
	if len(order) > pageRows {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.parts[b].compute, s.parts[a].compute) })
		l.Heads[0].Sort, l.Heads[2].Sort = "none", "descending"
	}
	for row, i := range order {
		if s.isUnbalanced() && i == s.slowest() {
			l.Marked = map[int]bool{row: true}
		}
		a, r := s.parts[i], &s.Ranks[i]
		l.Rows = append(l.Rows, []cell{
			numbered(i, s.rankName(i)), s.partsBar(a), value(a.compute, seconds), value(a.wait, seconds), value(a.either, seconds), value(a.transfer, seconds),
			numbered(r.Process, strconv.Itoa(r.Process)), word(s.hostOf(i)),
		})
	}
	return l.finish()
}

func (s *summary) partsBar(a division) cell {
	whole := s.efficiencies.Runtime
	return cell{Left: true, Bar: []part{
		{"compute", round(100 * share(a.compute, whole))}, {"wait", round(100 * share(a.wait, whole))},
		{"either", round(100 * share(a.either, whole))}, {"transfer", round(100 * share(a.transfer, whole))},
	}}
}

// chart is for more ranks than the table shows at first.
func (s *summary) chart() *chartData {
	if len(s.counted) <= pageRows || s.efficiencies.Runtime == 0 {
		return nil
	}
	c := &chartData{Runtime: s.efficiencies.Runtime}
	scaled := func(seconds float64) int { return int(math.Round(1e4 * seconds / s.efficiencies.Runtime)) }
	for _, i := range s.counted {
		a := s.parts[i]
		c.Names = append(c.Names, s.rankName(i))
		c.Compute, c.Wait = append(c.Compute, scaled(a.compute)), append(c.Wait, scaled(a.wait))
		c.Either, c.Transfer = append(c.Either, scaled(a.either)), append(c.Transfer, scaled(a.transfer))
	}
	return c
}

func (s *summary) siteListing() *listing {
	l := &listing{ID: "sites-table", Caption: "Calls by function and place", Heads: []heading{
		{Text: "Function", Left: true, Sort: "none"}, {Text: "Place", Left: true}, {Text: "Of time", Sort: "descending"}, {Text: "Wait, at least", Sort: "none"},
		{Text: "Calls", Sort: "none"}, {Text: "Each", Sort: "none"}, {Text: "Shortest", Sort: "none"}, {Text: "Longest", Sort: "none"}, {Text: "Bytes", Sort: "none"}, {Text: "Ranks", Sort: "none"}, {Text: "Most in rank", Left: true},
	}}
	whole := s.sum.sum()
	for i := range s.sites {
		one := &s.sites[i]
		l.Rows = append(l.Rows, []cell{
			code(functionName(one.function), ""), code(cut(s.where(one.place), 60), s.whole(one.place)), value(share(one.time, whole), percent), waitCell(one.waiting, whole),
			value(one.calls, count), value(share(one.time, one.calls), seconds), value(one.shortest, seconds), value(one.longest, seconds), movedCell(one.function, one.bytes), value(float64(one.ranks), count),
			word(s.rankName(one.most) + ": " + seconds(one.mostTime)),
		})
	}
	return l.finish()
}

func (s *summary) pairListing(nodes []node, m *matrix) *listing {
	l := &listing{ID: "pairs-table", Few: true, Seen: true, Caption: "Pairs with most bytes", Heads: []heading{
		{Text: "From", Left: true}, {Text: "To", Left: true}, {Text: "Bytes", Sort: "descending"}, {Text: "Count", Sort: "none"}, {Text: "Where", Left: true, Sort: "none"},
	}}
	pairs, n := m.pairs(pagePairs)
	for _, c := range pairs {
		from, to := &nodes[c.from], &nodes[c.to]
		l.Rows = append(l.Rows, []cell{word(s.nodeName(from)), word(s.nodeName(to)), value(c.bytes, size), value(c.count, count), word(s.relation(from, to))})
	}
	if n > len(pairs) {
		l.Caption = fmt.Sprintf("The %d pairs with most bytes, of %s", len(pairs), count(float64(n)))
	}
	return l.finish()
}

func (s *summary) choiceListing() *listing {
	l := &listing{ID: "rpp-table", Seen: true, Caption: choicesTitle, Heads: []heading{
		{Text: "-rpp", Left: true}, {Text: "Stays"}, {Text: "", Left: true, Wide: true},
	}}
	for _, c := range s.choices {
		name := strconv.Itoa(c.rpp)
		if c.now {
			name += ", as it was"
		}
		l.Rows = append(l.Rows, []cell{word(name), {Text: percent(c.inside)}, shareBar(c.inside)})
	}
	return l
}

func (s *summary) sizeListing() *listing {
	l := &listing{ID: "sizes-table", Caption: "Sizes of messages and operations", Heads: []heading{
		{Text: "Way", Left: true}, {Text: "Size"}, {Text: "Count"}, {Text: "Of the way"}, {Text: "Bytes"}, {Text: "", Left: true, Wide: true},
	}}
	whole := map[Way]float64{}
	for _, c := range s.sizes {
		whole[c.Way] += float64(c.Count)
	}
	for _, c := range s.sizes {
		part := share(float64(c.Count), whole[c.Way])
		l.Rows = append(l.Rows, []cell{word(string(c.Way)), {Text: class(c.From)}, {Text: count(float64(c.Count))}, {Text: percent(part)}, {Text: size(float64(c.Bytes))}, shareBar(part)})
	}
	return l
}

func (s *summary) usageListing() *listing {
	l := &listing{ID: "collectives-table", Caption: "Collective operations by communicator", Heads: []heading{
		{Text: "Function", Left: true, Sort: "none"}, {Text: "Communicator", Left: true, Sort: "none"}, {Text: "Of time", Sort: "descending"}, {Text: "Wait, at least", Sort: "none"},
		{Text: "Size", Sort: "none"}, {Text: "Calls of a rank", Sort: "none"}, {Text: "Each", Sort: "none"}, {Text: "Bytes given", Sort: "none"},
	}}
	whole := s.sum.sum()
	for i := range s.usages {
		u := &s.usages[i]
		l.Rows = append(l.Rows, []cell{
			code(u.function, ""), code(cut(s.communicatorName(u.communicator), 60), ""), value(share(u.time, whole), percent), waitCell(u.waiting, whole),
			{Text: s.members(u)}, value(share(u.calls, float64(u.ranks)), count), value(share(u.time, u.calls), seconds), value(u.bytes, size),
		})
	}
	return l.finish()
}

func (s *summary) delayListing() *listing {
	l := &listing{ID: "late-table", Caption: "The latest rank at collective operations", Heads: []heading{
		{Text: "Function", Left: true, Sort: "none"}, {Text: "Place", Left: true}, {Text: "Latest rank", Sort: "none"}, {Text: "Late by", Sort: "none"}, {Text: "In all", Sort: "descending"},
		{Text: "Calls", Sort: "none"}, {Text: "Communicator", Left: true, Sort: "none"}, {Text: "Earliest rank", Sort: "none"}, {Text: "Early by", Sort: "none"},
	}}
	for i := range s.delays {
		d := &s.delays[i]
		late := value(d.late, seconds)
		if !d.isCertain() {
			late.Text, late.Title = "~ "+late.Text, "The clocks of the hosts are not exact enough to be sure."
		}
		l.Rows = append(l.Rows, []cell{
			code(d.function, ""), code(cut(s.where(d.place), 60), s.whole(d.place)), numbered(d.last, s.rankName(d.last)), late, value(d.cost(), seconds),
			value(d.calls, count), code(cut(s.communicatorName(d.communicator), 40), ""), numbered(d.first, s.rankName(d.first)), value(max(0, -d.early), seconds),
		})
	}
	return l.finish()
}

func (s *summary) matrixData(nodes []node, m *matrix) *matrixData {
	d := &matrixData{Layers: map[string][]string{}}
	for i := range nodes {
		n := &nodes[i]
		d.Names = append(d.Names, s.nodeName(n))
		d.Processes = extend(d.Processes, i, i > 0 && n.process == nodes[i-1].process)
		d.Hosts = extend(d.Hosts, i, i > 0 && n.host == nodes[i-1].host)
	}
	for way, cells := range m.cells {
		d.Layers[string(way)] = []string{layer(cells, func(a amount) float64 { return a.count }), layer(cells, func(a amount) float64 { return a.bytes })}
	}
	return d
}

// extend adds node i to the last range, or to a new one.
func extend(ranges [][2]int, i int, same bool) [][2]int {
	if same {
		ranges[len(ranges)-1][1] = i + 1
		return ranges
	}
	return append(ranges, [2]int{i, i + 1})
}

// repeats is the first code that is no number.
const repeats = 0xfc00

// layer writes numbers as matrixData has them.
func layer(cells []amount, of func(amount) float64) string {
	var codes []byte
	last, again := -1, 0
	flush := func() {
		for ; again > 0; again -= min(again, math.MaxUint16-repeats+1) {
			codes = binary.LittleEndian.AppendUint16(codes, uint16(repeats+min(again, math.MaxUint16-repeats+1)-1))
		}
	}
	for _, c := range cells {
		code := int(min(repeats-1, math.Round(1024*math.Log2(1+max(0, of(c))))))
		if code == last {
			again++
			continue
		}
		flush()
		codes = binary.LittleEndian.AppendUint16(codes, uint16(code))
		last = code
	}
	flush()
	return base64.StdEncoding.EncodeToString(codes)
}

// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tpsl/tpsl/internal/testsupport"
)

func pageOf(t *testing.T, p *Profile) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, p.Page(&out))
	return out.String()
}

// Names that users have chosen stand on the page as text.
func TestPageEscapes(t *testing.T) {
	page := pageOf(t, longNames(madeUp(64, 8, 2)))
	assert.NotContains(t, page, "<script>alert")
	assert.NotContains(t, page, "<i>note")
	assert.NotContains(t, page, "</script><b>")
	assert.NotContains(t, page, "ZgotmplZ")
	assert.NotContains(t, page, "\u202e", "it would turn around what follows")
	assert.Contains(t, page, "&lt;i&gt;note&lt;/i&gt;")
}

// worst is a profile in whose matrix nothing repeats and whose tables are full.
func worst() *Profile {
	p := madeUp(512, 1, 8)
	for i := range p.Ranks {
		p.Ranks[i].Peers = nil
		for j := range p.Ranks {
			n := int64((i*7919+j*104729)%99991 + 1)
			a := Amount{n, n * n}
			p.Ranks[i].Peers = append(p.Ranks[i].Peers, Peer{Rank: j, Sent: a, Put: Amount{n * 3, n * 7}, Collective: Amount{n * 5, n * n * n}})
		}
	}
	return p
}

// great is the page of 4,096 ranks.
var great = sync.OnceValue(func() string {
	var out strings.Builder
	if err := madeUp(4096, 8, 64).Page(&out); err != nil {
		panic(err)
	}
	return out.String()
})

// Pages have at most 5 MB, also where nothing in the matrix repeats.
func TestPageIsSmall(t *testing.T) {
	for name, write := range map[string]func() string{
		"4": func() string { return pageOf(t, madeUp(4, 2, 1)) }, "64": func() string { return pageOf(t, madeUp(64, 8, 2)) }, "4096": great,
		"worst matrix": func() string { return pageOf(t, worst()) },
	} {
		began := time.Now()
		page := write()
		t.Logf("%s: %s in %s", name, size(float64(len(page))), time.Since(began))
		assert.LessOrEqual(t, len(page), 5_000_000, name)
	}
}

// shown opens the page of a profile in a browser as wide as a window, and waits until all is drawn.
func shown(t *testing.T, page string, w window) *browser {
	t.Helper()
	b := newBrowser(t)
	b.show(page, w)
	return b
}

func (b *browser) show(page string, w window) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "profile.html")
	require.NoError(b.t, os.WriteFile(file, []byte(page), 0o600))
	b.resize(w)
	b.open("file://" + file)
	b.until(`document.documentElement?.dataset.ready && location.pathname === ` + quotedJS(file))
}

// A browser shows pages of small and great jobs without a complaint, with all that they should have, without anything from a network,
// and not wider than the window.
func TestPageInBrowser(t *testing.T) {
	for name, c := range map[string]struct {
		page      string
		rows, all int // of the table of ranks
		chart     bool
	}{
		"4":    {pageOf(t, madeUp(4, 2, 1)), 4, 4, false},
		"64":   {pageOf(t, longNames(madeUp(64, 8, 2))), 20, 64, true},
		"4096": {great(), 20, 4096, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrowser(t)
			for _, w := range []window{{1280, 900, false, ""}, {1280, 900, true, ""}, {390, 844, false, ""}, {1000, 1400, true, "print"}} {
				b.show(c.page, w)
				b.picture(w.name())
				assert.Empty(t, b.complaints())
				assert.LessOrEqual(t, b.value(`document.documentElement.scrollWidth`), float64(w.width), "%+v", w)
				assert.EqualValues(t, c.rows, b.value(`[...document.querySelectorAll("#ranks-table tbody tr")].filter(r => r.offsetHeight > 0).length`))
				assert.EqualValues(t, c.all, b.value(`document.querySelectorAll("#ranks-table tbody tr").length`))
				assert.Equal(t, c.chart, b.value(`document.getElementById("ranks-chart") !== null`))
				assert.Contains(t, b.value(`document.getElementById("places").textContent`), "halo.c:88")
				assert.Contains(t, b.value(`document.getElementById("short").textContent`), "Is the network used?")
				assert.NotEmpty(t, b.value(`document.getElementById("matrix-most").textContent`))
			}
		})
	}
}

// Pages of jobs that hardly were any are shown without a complaint, too.
func TestOddPagesInBrowser(t *testing.T) {
	silent, cut := ranksOf(Rank{}, Rank{}), madeUp(64, 8, 2)
	silent.Ranks[0].Counted, silent.Ranks[1].Counted = false, false
	cut.Job.ExitCode, cut.Ranks[7].Counted, cut.Ranks[9].Ended, cut.Places = 9, false, false, nil
	for i := range cut.Ranks {
		for j := range cut.Ranks[i].Calls {
			cut.Ranks[i].Calls[j].Place, cut.Ranks[i].Calls[j].Communicator, cut.Ranks[i].Calls[j].Late = Other, Other, nil
		}
	}
	b := newBrowser(t)
	for name, p := range map[string]*Profile{"silent": silent, "one": ranksOf(Rank{Elapsed: 1}), "no time": ranksOf(Rank{}, Rank{}), "cut": cut} {
		b.show(pageOf(t, p), window{390, 844, false, ""})
		b.picture(strings.ReplaceAll(name, " ", "-"))
		assert.Empty(t, b.complaints(), name)
		assert.LessOrEqual(t, b.value(`document.documentElement.scrollWidth`), 390.0, name)
		assert.NotRegexp(t, "NaN|Infinity|undefined", b.value(`document.body.innerText`), name)
	}
}

// A page of 4,096 ranks is there within two seconds, drawings and all. On a busy machine one of some tries must be that fast.
func TestPageIsFast(t *testing.T) {
	b := newBrowser(t)
	var fastest any
	for range 5 {
		b.show(great(), window{1280, 900, false, ""})
		fastest = b.value(`Number(document.documentElement.dataset.ready)`)
		t.Logf("%v ms", fastest)
		if fastest.(float64) < 2000 {
			break
		}
	}
	assert.Less(t, fastest, 2000.0)
}

// The first picture of a page has its drawings: they are there when the document is, and nothing is waited for.
func TestFirstPaintHasDrawings(t *testing.T) {
	b := newBrowser(t)
	drawn := strings.Replace(coloured, "%s", "matrix-map", 1)
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `addEventListener("DOMContentLoaded", () => { if (document.getElementById("matrix-map")) window.first = ` + drawn + ` })`}, nil)
	b.show(pageOf(t, madeUp(64, 8, 2)), window{1280, 900, false, ""})
	assert.Greater(t, b.value(`window.first`), 4.0)
	assert.Equal(t, b.value(drawn), b.value(`window.first`))
}

// Links of the navigation have the words of their headings, in their order. No caption that is seen has the words of a heading.
func TestHeadings(t *testing.T) {
	b := shown(t, pageOf(t, madeUp(64, 8, 2)), window{1280, 900, false, ""})
	links := b.value(`[...document.querySelectorAll("nav a")].map(a => a.textContent)`)
	assert.Equal(t, b.value(`[...document.querySelectorAll("h2")].map(h => h.textContent)`), links)
	assert.Equal(t, links, b.value(`[...document.querySelectorAll("nav a")].map(a => document.querySelector(a.getAttribute("href") + " h2").textContent)`))
	assert.Len(t, links, 10)
	assert.Equal(t, []any{"The 200 pairs with most bytes, of 4,040", choicesTitle}, b.value(`[...document.querySelectorAll("caption")].filter(c => c.offsetHeight > 1).map(c => c.textContent).sort()`))
}

// The slow rank's row is marked. Of the pairs five are shown until somebody asks for all.
func TestTablesAtFirst(t *testing.T) {
	b := shown(t, pageOf(t, madeUp(64, 8, 2)), window{1280, 900, false, ""})
	assert.Equal(t, []any{"36"}, b.value(`[...document.querySelectorAll("tr.marked")].map(r => r.cells[0].textContent)`))
	pairs := `[...document.querySelectorAll("#pairs-table tbody tr")].filter(r => r.offsetHeight > 0).length`
	assert.EqualValues(t, 5, b.value(pairs))
	b.value(`document.querySelector("button.all[aria-controls=pairs-table]").click()`)
	assert.EqualValues(t, 200, b.value(pairs))
	assert.NotContains(t, pageOf(t, ranksOf(Rank{Elapsed: 1}, Rank{Elapsed: 1})), `class="marked"`, "all are alike")
}

// On a telephone, function, place, share and wait can be read without moving the table of calls, and nothing of them is cut.
func TestTelephone(t *testing.T) {
	p := madeUp(64, 8, 2)
	for i := range p.Ranks {
		p.Ranks[i].Calls[1].Function = "MPI_Neighbor_alltoallw_init"
	}
	b := shown(t, pageOf(t, p), window{390, 844, false, ""})
	assert.Equal(t, []any{"Function", "Place", "Of time", "Wait, at least"}, b.value(`[...document.querySelectorAll("#sites-table th")].slice(0, 4).map(h => h.textContent)`))
	assert.LessOrEqual(t, b.value(`document.querySelector("#sites-table th:nth-child(4)").getBoundingClientRect().right`), 390.0)
	assert.EqualValues(t, 0, b.value(`[...document.querySelectorAll("#sites-table td:nth-child(-n+4)")].filter(c => c.scrollWidth > c.clientWidth).length`))
}

// What is received and what is sent are told apart, and numbers of tables say what they count.
func TestPageSaysWhatIsCounted(t *testing.T) {
	page := pageOf(t, madeUp(64, 8, 2))
	for _, want := range []string{"15.6 GiB sent", "15.6 GiB received", "1000 KiB given", "512,000 messages bring 15.6 GiB", "in 8,065,280 steps from rank to rank"} {
		assert.Contains(t, page, want)
	}
	for function, want := range map[string]string{
		"MPI_Isend": "sent", "MPI_Send_c": "sent", "MPI_Ssend_init": "sent", "MPI_Recv": "received", "MPI_Imrecv_c": "received", "MPI_Waitsome": "received", "MPI_Test": "received",
		"MPI_Sendrecv": "", "MPI_Sendrecv_replace_c": "", "MPI_Put": "", "MPI_File_read": "", "MPI_Iallreduce_c": "given", "MPI_Bcast": "given",
	} {
		assert.Equal(t, want, moved(function), function)
	}
}

// coloured counts the colours of a drawing.
const coloured = `(() => { const c = document.getElementById("%s"), p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, s = new Set();
	for (let i = 0; i < p.length; i += 4) s.add(p[i] << 16 | p[i+1] << 8 | p[i+2]); return s.size })()`

// Drawings are drawn, in colours of the screen's light, and again when these change.
func TestDrawings(t *testing.T) {
	b := shown(t, pageOf(t, madeUp(64, 8, 2)), window{1280, 900, false, ""})
	for _, name := range []string{"ranks-chart", "matrix-map"} {
		assert.Greater(t, b.value(strings.Replace(coloured, "%s", name, 1)), 4.0, name)
	}
	drawing := `document.getElementById("matrix-map").toDataURL()`
	light := b.value(drawing)
	b.resize(window{1280, 900, true, ""})
	b.until(drawing + ` !== ` + quotedJS(light))
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
	b.until(drawing + ` === ` + quotedJS(light))
	b.value(`document.querySelector("#matrix-what input[value='0']").click()`)
	assert.NotEqual(t, light, b.value(drawing))
	assert.Regexp(t, `^[\d,]+$`, b.value(`document.getElementById("matrix-most").textContent`), "a count, and no bytes")
	assert.Empty(t, b.complaints())
}

// All can be reached and used by the keyboard.
func TestKeyboard(t *testing.T) {
	b := shown(t, pageOf(t, madeUp(64, 8, 2)), window{1280, 900, false, ""})
	reached := map[any]bool{}
	for range 120 {
		b.key("Tab")
		reached[b.value(`(e => e.id || e.className || e.name || e.textContent)(document.activeElement)`)] = true
	}
	for _, want := range []string{"skip", "ranks-chart", "matrix-map", "all", "scroll", "what", "way", "In short"} {
		assert.True(t, reached[want], "%s: %v", want, reached)
	}

	b.value(`document.getElementById("matrix-map").focus()`)
	for _, key := range []string{"ArrowRight", "ArrowRight", "ArrowDown"} {
		b.key(key)
	}
	assert.Regexp(t, "^1 \u2192 1: ", b.value(`document.getElementById("matrix-readout").textContent`), "the first key only begins")
	b.key("Escape")
	assert.Contains(t, b.value(`document.getElementById("matrix-readout").textContent`), "arrow keys")

	b.value(`document.getElementById("ranks-chart").focus()`)
	b.key("ArrowRight")
	b.key("ArrowRight")
	assert.Regexp(t, `^Rank 1: compute \d+\.\d s, wait `, b.value(`document.getElementById("ranks-readout").textContent`))

	b.value(`document.querySelector("button.all[aria-controls=ranks-table]").focus()`)
	b.key("Enter")
	assert.EqualValues(t, 64, b.value(`[...document.querySelectorAll("#ranks-table tbody tr")].filter(r => r.offsetHeight > 0).length`))
	first := `document.querySelector("#ranks-table tbody tr").cells[0].textContent`
	assert.Equal(t, "36", b.value(first), "the slowest")
	b.value(`document.querySelector("#ranks-table th button").focus()`)
	b.key("Enter")
	assert.Equal(t, "63", b.value(first), "the greatest number")
	b.key("Enter")
	assert.Equal(t, "0", b.value(first))
	assert.Equal(t, "ascending", b.value(`document.querySelector("#ranks-table th").ariaSort`))
	assert.Empty(t, b.complaints())
}

// Every drawing has a name and every control a label; each table has a caption; no two things have one name.
func TestPageIsAccessible(t *testing.T) {
	b := shown(t, pageOf(t, madeUp(64, 8, 2)), window{1280, 900, false, ""})
	for _, none := range []string{
		`[...document.querySelectorAll("canvas")].filter(e => !e.ariaLabel || e.getAttribute("role") !== "img")`,
		`[...document.querySelectorAll("input")].filter(e => e.labels.length === 0)`,
		`[...document.querySelectorAll("button")].filter(e => e.textContent.trim() === "")`,
		`[...document.querySelectorAll("table")].filter(e => !e.caption || !e.caption.textContent)`,
		`[...document.querySelectorAll("th")].filter(e => e.scope !== "col")`,
		`[...document.querySelectorAll("section")].filter(e => !document.getElementById(e.getAttribute("aria-labelledby")))`,
		`[...document.querySelectorAll("a[href^='#']")].filter(e => !document.querySelector(e.getAttribute("href")))`,
		`[...document.querySelectorAll("[id]")].filter(e => document.querySelectorAll("#" + e.id).length > 1)`,
	} {
		assert.EqualValues(t, 0, b.value(`(`+none+`).length`), none)
	}
	assert.Equal(t, "en", b.value(`document.documentElement.lang`))
}

// A page without the script still has its tables.
func TestPageWithoutScript(t *testing.T) {
	file := filepath.Join(t.TempDir(), "profile.html")
	require.NoError(t, os.WriteFile(file, []byte(pageOf(t, madeUp(64, 8, 2))), 0o600))
	b := newBrowser(t)
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	b.open("file://" + file)
	b.until(`document.readyState === "complete"`)
	assert.EqualValues(t, 64, b.value(`[...document.querySelectorAll("#ranks-table tbody tr")].filter(r => r.offsetHeight > 0).length`))
	assert.EqualValues(t, 0, b.value(`[...document.querySelectorAll("canvas, button")].filter(e => e.offsetHeight > 0).length`))
}

func TestMain(m *testing.M) {
	testsupport.ClearEnvironment()
	os.Exit(m.Run())
}

package toolcall

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

const header = "Wall time: 1.5000 seconds\nOutput:"

func shaped(t *testing.T, result string, o ShapeOptions) protocol.Output {
	t.Helper()
	o.Server, o.Tool, o.WallTime = "docs", "read", 1500*time.Millisecond
	out, _, err := Shape(json.RawMessage(result), o)
	if err != nil {
		t.Fatalf("Shape(%.200s): %v", result, err)
	}
	return out
}

// render writes an output as one string: texts as they are, media in angles.
func render(out protocol.Output) string {
	var list []string
	for _, item := range out.Items {
		if item.Type == protocol.OutputText {
			list = append(list, item.Text)
			continue
		}
		list = append(list, fmt.Sprintf("<%s %s %s>", item.Type, item.MIMEType, item.Data))
	}
	return strings.Join(list, "|")
}

// Each kind of block becomes what a model can read; what is odd never costs
// the rest of the result.
func TestShapeBlocks(t *testing.T) {
	const block = `{"content":[%s]}`
	both := ShapeOptions{ImageInput: true, AudioInput: true}
	for name, c := range map[string]struct {
		in   string
		o    ShapeOptions
		want string
	}{
		"text":                    {`{"type":"text","text":"a\nb \u00e9\ud83d\ude00\ud83d \"x\" <b>&"}`, both, "a\nb é😀\ufffd \"x\" <b>&"},
		"texts":                   {`{"type":"text","text":"a"},{"type":"text","text":"b"}`, both, "a|b"},
		"image":                   {`{"type":"image","data":"AAAA","mimeType":"image/png"}`, both, "<image image/png AAAA>"},
		"image, escaped":          {`{"type":"image","data":"AA\/A","mimeType":"image/png"}`, both, "<image image/png AA/A>"},
		"image not taken":         {`{"type":"image","data":"AAAA","mimeType":"image/png"}`, ShapeOptions{AudioInput: true}, "(An image (image/png) of about 3 bytes was left out: the model takes no images.)"},
		"image not base64":        {`{"type":"image","data":"A!AA","mimeType":"image/png"}`, both, "(An image (image/png) of about 3 bytes was left out: its data is not base64.)"},
		"image, short":            {`{"type":"image","data":"AAA","mimeType":"image/png"}`, both, "(An image (image/png) of about 0 bytes was left out: its data is not base64.)"},
		"image, padded":           {`{"type":"image","data":"A===","mimeType":"image/png"}`, both, "(An image (image/png) of about 3 bytes was left out: its data is not base64.)"},
		"image, no type":          {`{"type":"image","data":"AAAA"}`, both, "(An image of about 3 bytes was left out: its MIME type is missing.)"},
		"image without data":      {`{"type":"image","mimeType":"image/png"}`, both, `{"type":"image","mimeType":"image/png"}`},
		"audio (O173)":            {`{"type":"audio","data":"AAAA","mimeType":"audio/wav"}`, both, "<audio audio/wav AAAA>"},
		"audio not taken":         {`{"type":"audio","data":"AAAA","mimeType":"audio/wav"}`, ShapeOptions{ImageInput: true}, "(A sound (audio/wav) of about 3 bytes was left out: the model takes no audio.)"},
		"link (O177)":             {`{"type":"resource_link","uri":"x://b","name":"b"}`, both, "Resource link b: x://b"},
		"link, whole":             {`{"type":"resource_link","uri":"x://b","name":"b","title":"B","description":"What\nit is","mimeType":"text/plain","size":12}`, both, "Resource link B: x://b (text/plain, 12 bytes) – What it is"},
		"link, odd uri":           {`{"type":"resource_link","uri":"file:///../../x\u0000y","name":"b"}`, both, "Resource link b: file:///../../xy"},
		"link without uri":        {`{"type":"resource_link","name":"b"}`, both, `{"type":"resource_link","name":"b"}`},
		"resource":                {`{"type":"resource","resource":{"uri":"x://a","mimeType":"text/plain","text":"one\ntwo"}}`, both, "Resource x://a (text/plain):\none\ntwo"},
		"resource, no uri (O171)": {`{"type":"text","text":"ok"},{"type":"resource","resource":{"text":"x","mimeType":"text/plain"}}`, both, "ok|x"},
		"blob":                    {`{"type":"resource","resource":{"uri":"x://a","mimeType":"application/pdf","blob":"JVBERi0="}}`, both, "(Resource x://a (application/pdf) of about 6 bytes was left out: it is binary.)"},
		"blob, bad":               {`{"type":"resource","resource":{"blob":"?"}}`, both, "(Resource of about 0 bytes was left out: it is binary.)"},
		"resource, only uri":      {`{"type":"resource","resource":{"uri":"x://a"}}`, both, "Resource x://a"},
		"resource, nothing":       {`{"type":"resource","resource":{}}`, both, `{"type":"resource","resource":{}}`},
		"resource, null":          {`{"type":"resource","resource":null}`, both, `{"type":"resource","resource":null}`},
		"unknown (O174)":          {`{"type":"application/json","text":"{}"}`, both, `{"type":"application/json","text":"{}"}`},
		"video":                   {`{"type":"video","n":1.0,"id":12345678901234567890}`, both, `{"type":"video","n":1.0,"id":12345678901234567890}`},
		"no type":                 {`{"text":"a"}`, both, `{"text":"a"}`},
		"text is a number":        {`{"type":"text","text":5}`, both, `{"type":"text","text":5}`},
		"nulls":                   {`null,{"type":"text","text":"a"},null`, both, "a"},
		"strings, numbers":        {`"a",5,[1]`, both, "a|5|[1]"},
		"empty texts":             {`{"type":"text","text":""},{"type":"text","text":"a"}`, both, "a"},
		"doubled members":         {`{"type":"image","type":"text","text":"a"}`, both, "a"},
	} {
		if got := render(shaped(t, fmt.Sprintf(block, c.in), c.o)); got != header+"|"+c.want {
			t.Errorf("%s\n got %q\nwant %q", name, got, header+"|"+c.want)
		}
	}
}

// The whole of a result, however odd, is understood.
func TestShapeWhole(t *testing.T) {
	image := strings.Repeat("QUJD", 30)
	for name, c := range map[string]struct{ in, want string }{
		"nothing":                {`{}`, header + "\n(no output)"},
		"empty content":          {`{"content":[]}`, header + "\n(no output)"},
		"null":                   {`{"content":null,"structuredContent":null,"isError":null}`, header + "\n(no output)"},
		"nulls":                  {`{"content":[null,null]}`, header + "\n(no output)"},
		"empty text":             {`{"content":[{"type":"text","text":""}]}`, header + "\n(no output)"},
		"a string":               {`{"content":"hi"}`, header + "|hi"},
		"one block":              {`{"content":{"type":"text","text":"hi"}}`, header + "|hi"},
		"a number":               {`{"content":5}`, header + "|5"},
		"O168 no content":        {`{"structuredContent":{"answer":42}}`, header + `|{"answer":42}`},
		"O178 numbers":           {`{"content":[],"structuredContent":{"id":9007199254740993,"big":1915883588174806058,"f":1.0,"e":1e400}}`, header + `|{"id":9007199254740993,"big":1915883588174806058,"f":1.0,"e":1e400}`},
		"O170 more than text":    {`{"content":[{"type":"text","text":"id 9007199254740993"}],"structuredContent":{"id":9007199254740993}}`, header + `|id 9007199254740993|{"id":9007199254740993}`},
		"O175 unfit structure":   {`{"content":[{"type":"text","text":"n=1"}],"structuredContent":{"n":"1"}}`, header + `|n=1|{"n":"1"}`},
		"same JSON":              {`{"content":[{"type":"text","text":"{\n  \"a\": [1, 2.0],\n  \"s\": \"x y\"\n}"}],"structuredContent":{"a":[1,2.0],"s":"x y"}}`, header + "|{\n  \"a\": [1, 2.0],\n  \"s\": \"x y\"\n}"},
		"same JSON, other order": {`{"content":[{"type":"text","text":"{\"b\":\"\\u00e9\",\"a\":1}"}],"structuredContent":{"a":1,"b":"é"}}`, header + `|{"b":"\u00e9","a":1}`},
		"other number":           {`{"content":[{"type":"text","text":"{\"a\":9007199254740993}"}],"structuredContent":{"a":9007199254740992}}`, header + `|{"a":9007199254740993}|{"a":9007199254740992}`},
		"blank in a string":      {`{"content":[{"type":"text","text":"{\"a\":\"x y\"}"}],"structuredContent":{"a":"xy"}}`, header + `|{"a":"x y"}|{"a":"xy"}`},
		"text is the second":     {`{"content":[{"type":"text","text":"see:"},{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`, header + `|see:|{"a":1}`},
		"wrapped text":           {`{"content":[{"type":"text","text":"hello"}],"structuredContent":{"result":"hello"}}`, header + "|hello"},
		"wrapped text, escaped":  {`{"content":[{"type":"text","text":"h\u00e9"}],"structuredContent":{"result":"hé"}}`, header + "|hé"},
		"wrapped number":         {`{"content":[{"type":"text","text":"5"}],"structuredContent":{"result":5}}`, header + "|5"},
		"wrapped list":           {`{"content":[{"type":"text","text":"a"},{"type":"text","text":"{\"b\":1}"}],"structuredContent":{"result":["a",{"b":1}]}}`, header + `|a|{"b":1}`},
		"wrapped list, longer":   {`{"content":[{"type":"text","text":"a"}],"structuredContent":{"result":["a","b"]}}`, header + `|a|{"result":["a","b"]}`},
		"wrapped list, shorter":  {`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"structuredContent":{"result":["a"]}}`, header + `|a|b|{"result":["a"]}`},
		"wrapped and more":       {`{"content":[{"type":"text","text":"a"}],"structuredContent":{"result":"a","n":1}}`, header + `|a|{"result":"a","n":1}`},
		"empty structure":        {`{"content":[{"type":"text","text":"a"}],"structuredContent":{}}`, header + "|a"},
		"O169 image twice":       {`{"content":[{"type":"image","data":"` + image + `","mimeType":"image/png"}],"structuredContent":{"result":[{"type":"image","data":"` + image + `","mimeType":"image/png"}]}}`, header + "|<image image/png " + image + ">"},
		"O169 image inside":      {`{"content":[{"type":"image","data":"` + image + `","mimeType":"image/png"}],"structuredContent":{"name":"x","png":"` + image + `"}}`, header + "|<image image/png " + image + `>|{"name":"x","png":"(data of a content block)"}`},
		"error":                  {`{"isError":true,"content":[{"type":"text","text":"no such file"}]}`, header + "|no such file"},
		"O176 error, empty":      {`{"isError":true,"content":[]}`, header + `|The tool "read" of MCP server "docs" reported an error without a message.`},
		"O176 error, image":      {`{"isError":true,"content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}`, header + `|The tool "read" of MCP server "docs" reported an error without a message.|<image image/png AA==>`},
		"error, blank":           {`{"isError":true,"content":[{"type":"text","text":" \n"}]}`, header + `|The tool "read" of MCP server "docs" reported an error without a message.|` + " \n"},
		"content twice":          {`{"content":[{"type":"text","text":"a"}],"content":[{"type":"text","text":"b"}]}`, header + "|b"},
	} {
		if got := render(shaped(t, c.in, ShapeOptions{ImageInput: true})); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", name, got, c.want)
		}
	}
	for in, want := range map[string]bool{`{"isError":true}`: true, `{"isError":false}`: false, `{"isError":"true"}`: false, `{"isError":null}`: false, `{}`: false} {
		if _, isError, err := Shape(json.RawMessage(in), ShapeOptions{}); err != nil || isError != want {
			t.Errorf("Shape(%s): isError %v, %v", in, isError, err)
		}
	}
	for _, in := range []string{``, `null`, `[]`, `"x"`, `{"content":[}`, `{"hunter2`} {
		if _, _, err := Shape(json.RawMessage(in), ShapeOptions{}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("Shape(%s): %v", in, err)
		}
	}
}

// O167: what does not fit is cut in the middle, between characters, and the
// output says by how much.
func TestShapeCuts(t *testing.T) {
	const limit = 100 // tokens
	texts := func(list ...string) string {
		out := []byte(`{"content":[`)
		for i, s := range list {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(rawjson.AppendString(append(out, `{"type":"text","text":`...), s), '}')
		}
		return string(append(out, "]}"...))
	}
	numbers := ""
	for i := range 500 {
		numbers += fmt.Sprintf("%04d ", i)
	}
	for name, c := range map[string]struct {
		in          string
		first, last string // of the text after the header
		whole       int64  // bytes of the texts
	}{
		"one text":     {texts(numbers), "0000 0001", "0498 0499 ", 2500},
		"many texts":   {texts(strings.SplitAfter(numbers, " ")...), "0000 0001", "0498 0499 ", 2500},
		"wide":         {texts(strings.Repeat("日本", 400)), "日本日", "本日本", 2400},
		"wide, uneven": {texts("a" + strings.Repeat("日本", 400) + "b"), "a日本", "日本b", 2402},
		"escaped":      {`{"content":[{"type":"text","text":"` + strings.Repeat(`\ud83d\ude00`, 500) + `"}]}`, "😀😀", "😀😀", 2000},
		"control":      {texts(strings.Repeat("\n\t", 1000)), "\n\t\n", "\t\n\t", 2000},
		"structured":   {`{"content":[{"type":"text","text":"head"}],"structuredContent":{"n":"` + strings.Repeat("é", 1000) + `","last":1}}`, "head{\"n\":\"é", `é","last":1}`, 4 + 2000 + 17},
		"resource":     {`{"content":[{"type":"resource","resource":{"uri":"x://a","text":"` + strings.Repeat("z", 1000) + `"}}]}`, "Resource x://a:\nzz", "zz", 16 + 1000},
	} {
		out := shaped(t, c.in, ShapeOptions{TokenLimit: limit})
		text := ""
		for _, item := range out.Items[1:] {
			if item.Text == "" {
				t.Errorf("%s: an empty item", name)
			}
			text += item.Text
		}
		if !strings.HasPrefix(text, c.first) || !strings.HasSuffix(text, c.last) || !utf8.ValidString(text) || len(text) > limit*bytesPerToken {
			t.Errorf("%s: %d bytes %q", name, len(text), text)
		}
		if out.Truncated == nil {
			t.Errorf("%s: not marked as cut", name)
			continue
		}
		mark := marker(*out.Truncated, false, false)
		if lines := marker(*out.Truncated, true, true); strings.Contains(text, lines) {
			mark = lines
		}
		if kept := int64(len(text) - len(mark)); !strings.Contains(text, mark) || kept+out.Truncated.OmittedBytes != c.whole || kept < limit*bytesPerToken-markerRoom-8 {
			t.Errorf("%s: %d bytes kept, %+v of %d\n%s", name, kept, out.Truncated, c.whole, text)
		}
		if out.Truncated.OmittedTokens != (out.Truncated.OmittedBytes+3)/4 {
			t.Errorf("%s: %+v", name, out.Truncated)
		}
	}
	// Images are neither counted nor cut, and stay between the texts.
	in := `{"content":[{"type":"text","text":"` + strings.Repeat("a", 300) + `"},{"type":"image","data":"` + strings.Repeat("AAAA", 1000) + `","mimeType":"image/png"},{"type":"text","text":"` + strings.Repeat("b", 300) + `"}]}`
	out := shaped(t, in, ShapeOptions{TokenLimit: limit, ImageInput: true})
	if len(out.Items) != 4 || out.Items[2].Type != protocol.OutputImage || !strings.HasPrefix(out.Items[1].Text, "aaa") || !strings.HasSuffix(out.Items[3].Text, "bbb") {
		t.Errorf("items %s", render(out))
	}
	// What fits exactly is not cut.
	if out := shaped(t, texts(strings.Repeat("x", limit*bytesPerToken)), ShapeOptions{TokenLimit: limit}); out.Truncated != nil {
		t.Errorf("cut although it fits: %+v", out.Truncated)
	}
	if out := shaped(t, texts(strings.Repeat("x", limit*bytesPerToken+1)), ShapeOptions{TokenLimit: limit}); out.Truncated == nil {
		t.Error("not cut although it does not fit")
	}
	// The default is 10,000 tokens.
	if out := shaped(t, texts(strings.Repeat("x", 40_000)), ShapeOptions{}); out.Truncated != nil {
		t.Errorf("cut below the default: %+v", out.Truncated)
	}
	if out := shaped(t, texts(strings.Repeat("x", 40_001)), ShapeOptions{}); out.Truncated == nil {
		t.Error("not cut above the default")
	}
	// A limit smaller than the mark leaves the mark.
	if got := render(shaped(t, texts(strings.Repeat("x", 100)), ShapeOptions{TokenLimit: 1})); got != header+"|[… 100 bytes (about 25 tokens) left out …]" {
		t.Errorf("got %q", got)
	}
}

func TestShapeBoundsBlocks(t *testing.T) {
	in := `{"content":[` + strings.Repeat(`{"type":"text","text":"x"},`, maxBlocks+4) + `null]}`
	out := shaped(t, in, ShapeOptions{})
	if n := len(out.Items); n != 1+maxBlocks+1 || out.Items[n-1].Text != "(5 more blocks of content were left out.)" {
		t.Errorf("%d items, last %q", n, out.Items[n-1].Text)
	}
}

// A large result is not decoded to be cut: what is made of it is small.
func TestShapeLargeTextIsNotCopied(t *testing.T) {
	const size = 10 << 20
	line := `{\"key\": \"value \u00e9\"}\n`
	result := json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat(line, size/len(line)) + `"}],"structuredContent":{"result":"` + strings.Repeat("y", 1<<20) + `"}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, _, err := Shape(result, ShapeOptions{})
	runtime.ReadMemStats(&after)
	if err != nil || out.Truncated == nil {
		t.Fatalf("%v, %+v", err, out.Truncated)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("shaping %d bytes allocated %d", len(result), n)
	}
}

// Any result is an error or an output that is in UTF-8, keeps to the limit and
// accounts for every byte; texts that were not cut are exactly those that came.
func FuzzShape(f *testing.F) {
	for _, s := range []string{
		`{"content":[{"type":"text","text":"a\ud83d\ude00\ud83d\n"}],"structuredContent":{"result":"a"}}`,
		`{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"},null,"x",5],"isError":true}`,
		`{"content":{"type":"resource","resource":{"uri":"x:y","text":"` + strings.Repeat(`é\u00e9`, 200) + `"}}}`,
		`{"content":[{"type":"text","text":"{\"a\": [1]}"}],"structuredContent":{"a":[1]}}`,
		`{"content":[{"type":"text","text":"` + strings.Repeat("x", 300) + `"},{"type":"text","text":"` + strings.Repeat(`\\`, 300) + `"}],"structuredContent":[1,2]}`,
	} {
		f.Add([]byte(s), int64(40))
		f.Add([]byte(s), int64(0))
	}
	f.Fuzz(func(t *testing.T, result []byte, limit int64) {
		out, isError, err := Shape(result, ShapeOptions{Server: "s", Tool: "t", ImageInput: true, TokenLimit: limit})
		if err != nil {
			if rawjson.Valid(result) == nil && rawjson.Kind(result) == '{' {
				t.Fatalf("a valid result is refused: %v", err)
			}
			return
		}
		if limit <= 0 {
			limit = DefaultOutputTokens
		}
		var size int64
		for _, item := range out.Items[1:] {
			size += int64(len(item.Text))
			if !utf8.ValidString(item.Text) || item.Type == protocol.OutputText && item.Text == "" || item.Type != protocol.OutputText && item.Data == "" {
				t.Fatalf("item %+v", item)
			}
		}
		if room := limit * bytesPerToken; limit < 1<<40 && size > max(room, markerRoom) {
			t.Fatalf("%d bytes, limit %d", size, room)
		}
		whole, again, _ := Shape(result, ShapeOptions{Server: "s", Tool: "t", ImageInput: true, TokenLimit: 1 << 40})
		if whole.Truncated != nil || again != isError {
			t.Fatalf("%+v, isError %v and %v", whole.Truncated, again, isError)
		}
		var all int64
		var content []json.RawMessage
		texts := map[string]bool{}
		for _, item := range whole.Items[1:] {
			all += int64(len(item.Text))
			texts[item.Text] = true
		}
		if tr := out.Truncated; tr != nil && (all-tr.OmittedBytes < 0 || size < all-tr.OmittedBytes || size > all-tr.OmittedBytes+markerRoom) {
			t.Fatalf("%d bytes of %d left, %+v", size, all, tr)
		}
		parts, _ := readResult(result)
		if json.Unmarshal(parts.content, &content) != nil || len(content) > maxBlocks {
			return
		}
		for _, raw := range content {
			if x := (parseBlock(raw)); rawjson.Kind(raw) == '{' && string(x.kind) == `"text"` && isString(x.text) {
				var s string
				if err := json.Unmarshal(x.text, &s); err != nil || s != "" && !texts[s] {
					t.Fatalf("text %q (%v) is not in %v", s, err, texts)
				}
			}
		}
	})
}

func BenchmarkShape10MB(b *testing.B) {
	line := `{\"key\": \"value \u00e9\"}\n`
	for name, text := range map[string]string{
		"escaped": `{"content":[{"type":"text","text":"` + strings.Repeat(line, (10<<20)/len(line)) + `"}]}`,
		"plain":   `{"content":[{"type":"text","text":"` + strings.Repeat("x", 10<<20) + `"}]}`,
	} {
		result := json.RawMessage(text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(result)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Shape(result, ShapeOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

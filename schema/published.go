package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Names of the published files.
const (
	FileJSONSchema = "sidecar.schema.json"
	FileTS         = "sidecar.d.ts"
	FileReference  = "METHODS.md"
)

//go:embed published/sidecar.schema.json published/sidecar.d.ts published/METHODS.md
var published embed.FS

// Files holds the published files, as they were when the program was built.
func Files() fs.FS {
	sub, err := fs.Sub(published, "published")
	if err != nil {
		panic(fmt.Sprintf("schema: %v", err)) // the path is constant and valid
	}
	return sub
}

// WriteTS writes the TypeScript types to FileTS in the folder dir, which is
// made if it is not there.
func WriteTS(dir string) error { return write(dir, FileTS) }

// WriteJSONSchema writes the JSON Schema to FileJSONSchema in the folder dir,
// which is made if it is not there.
func WriteJSONSchema(dir string) error { return write(dir, FileJSONSchema) }

func write(dir, name string) error {
	text, err := fs.ReadFile(Files(), name)
	if err != nil {
		return fmt.Errorf("schema: reading %s: %w", name, err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("schema: writing %s: %w", name, err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
		return fmt.Errorf("schema: writing %s: %w", name, err)
	}
	return nil
}

// Render returns what should be published for m, by file name.
func Render(m *Model) (map[string][]byte, error) {
	schema, err := JSONSchema(m)
	if err != nil {
		return nil, err
	}
	reference, err := Reference(m)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{FileJSONSchema: schema, FileTS: TypeScript(m), FileReference: reference}, nil
}

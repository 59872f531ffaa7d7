package config

import (
	"path"
	"strings"
)

// The rules for paths are written out here, by operating system as a value,
// because path/filepath only knows those of the system it was built for.

// absolute reports whether p names the same folder from everywhere.
func absolute(goos, p string) bool {
	if goos != "windows" {
		return strings.HasPrefix(p, "/")
	}
	return len(p) >= 3 && p[1] == ':' && isSlash(p[2]) || isUNC(p)
}

func isSlash(c byte) bool { return c == '/' || c == '\\' }

func isUNC(p string) bool { return len(p) > 2 && isSlash(p[0]) && isSlash(p[1]) }

// resolve makes p absolute, seen from base. With an empty base a relative
// path stays relative.
func resolve(goos, base, p string) string {
	if p == "" {
		return base
	}
	if goos != "windows" {
		if !absolute(goos, p) && base != "" {
			p = base + "/" + p
		}
		return path.Clean(p)
	}
	switch {
	case absolute(goos, p):
	case isSlash(p[0]): // from the root of base's drive
		p = windowsVolume(base) + p
	case base != "":
		p = base + `\` + p
	}
	volume := windowsVolume(p)
	if strings.HasPrefix(volume, `\\?`) {
		return p // a verbatim path has no dots to clean
	}
	rest := path.Clean(strings.ReplaceAll(p[len(volume):], `\`, "/"))
	return volume + strings.ReplaceAll(rest, "/", `\`)
}

// windowsVolume is "C:" or \\server\share, or "".
func windowsVolume(p string) string {
	if len(p) >= 2 && p[1] == ':' {
		return p[:2]
	}
	if !isUNC(p) {
		return ""
	}
	seen := 0
	for i := 2; i < len(p); i++ {
		if isSlash(p[i]) {
			if seen++; seen == 2 {
				return p[:i]
			}
		}
	}
	return p
}

// driveRelative matches "C:folder", which means a different folder for each
// process.
func driveRelative(goos, p string) bool {
	return goos == "windows" && len(p) >= 2 && p[1] == ':' && (len(p) == 2 || !isSlash(p[2]))
}

// DefaultUserFile is the path of config.toml: $MCP_SIDECAR_HOME, else the
// platform's user configuration folder under mcp-sidecar/. It is "" when the
// environment names neither.
func DefaultUserFile(goos string, env map[string]string) string {
	e := newEnvironment(goos, env)
	get := func(name string) string { v, _ := e.lookup(name); return v }
	if home := get("MCP_SIDECAR_HOME"); home != "" {
		return resolve(goos, home, "config.toml")
	}
	folder := ""
	switch goos {
	case "windows":
		folder = get("APPDATA")
	case "darwin":
		if home := get("HOME"); home != "" {
			folder = home + "/Library/Application Support"
		}
	default:
		// The XDG rules say that a relative value is to be ignored.
		if folder = get("XDG_CONFIG_HOME"); !absolute(goos, folder) {
			folder = ""
			if home := get("HOME"); home != "" {
				folder = home + "/.config"
			}
		}
	}
	if folder == "" {
		return ""
	}
	return resolve(goos, folder, "mcp-sidecar/config.toml")
}

package process

import (
	"path/filepath"
	"slices"
)

// elsewhere returns files that command could mean in the folders where version
// managers and package managers put programs. It reads the file system, so it
// is for the error path only.
func (f finder) elsewhere(command string) []string {
	name := filepath.Base(command)
	if name == "." || name == string(filepath.Separator) {
		return nil
	}
	var found []string
	for _, pattern := range f.homes() {
		dirs, err := filepath.Glob(pattern)
		if err != nil {
			continue
		}
		slices.Reverse(dirs) // newer versions sort last
		for _, dir := range dirs {
			for _, path := range f.candidates(filepath.Join(dir, name)) {
				if reason, exists := f.check(path); !exists || reason != "" || slices.Contains(found, path) {
					continue
				}
				found = append(found, path)
				if len(found) == maxElsewhere {
					return found
				}
				break
			}
		}
	}
	return found
}

// homes returns patterns of folders, the likeliest first.
func (f finder) homes() []string {
	var patterns []string
	add := func(root string, rest ...string) {
		if root != "" {
			patterns = append(patterns, filepath.Join(append([]string{root}, rest...)...))
		}
	}
	variable := func(key string) string {
		value, _ := f.env.get(key)
		return value
	}
	home := f.env.home()

	if f.windows {
		add(variable("APPDATA"), "npm")
		add(variable("ProgramFiles"), "nodejs")
		add(variable("NVM_SYMLINK"))
		add(variable("LOCALAPPDATA"), "Volta", "bin")
		add(variable("APPDATA"), "fnm", "node-versions", "*", "installation")
		add(variable("LOCALAPPDATA"), "mise", "shims")
		add(home, "scoop", "shims")
		add(variable("ProgramData"), "chocolatey", "bin")
		add(home, ".local", "bin")
		add(home, ".cargo", "bin")
		add(home, ".bun", "bin")
		add(home, ".deno", "bin")
		add(home, ".dotnet", "tools")
		add(home, "go", "bin")
		add(home, "pipx", "venvs", "*", "Scripts")
		add(variable("LOCALAPPDATA"), "Programs", "Python", "*", "Scripts")
		add(variable("LOCALAPPDATA"), "Microsoft", "WindowsApps")
		return patterns
	}

	add(variable("NVM_DIR"), "versions", "node", "*", "bin")
	add(home, ".nvm", "versions", "node", "*", "bin")
	add(home, ".local", "share", "fnm", "node-versions", "*", "installation", "bin")
	add(home, ".fnm", "node-versions", "*", "installation", "bin")
	add(home, "Library", "Application Support", "fnm", "node-versions", "*", "installation", "bin")
	add(home, ".volta", "bin")
	add(home, ".local", "share", "mise", "shims")
	add(home, ".local", "share", "mise", "installs", "*", "*", "bin")
	add(home, ".asdf", "shims")
	add(home, ".nodenv", "shims")
	add(home, ".pyenv", "shims")
	add(home, ".rbenv", "shims")
	add("/opt/homebrew/bin")
	add("/usr/local/bin")
	add("/home/linuxbrew/.linuxbrew/bin")
	add("/opt/local/bin")
	add(home, ".cargo", "bin")
	add(home, ".local", "bin") // uv and pipx
	add(home, ".local", "share", "pipx", "venvs", "*", "bin")
	add(home, ".local", "pipx", "venvs", "*", "bin")
	add(home, ".bun", "bin")
	add(home, ".deno", "bin")
	add(home, ".dotnet", "tools")
	add(home, "go", "bin")
	add("/usr/local/go/bin")
	add("/snap/bin")
	add(home, ".nix-profile", "bin")
	add("/nix/var/nix/profiles/default/bin")
	add("/run/current-system/sw/bin")
	add("/usr/bin")
	add("/bin")
	return patterns
}

package config

import "slices"

// codexTop are the top-level keys of Codex's own config.toml. A file shared
// with it is no mistake, so they pass without a word.
var codexTop = []string{
	"agents", "allow_login_shell", "analytics", "approvals_reviewer", "apps", "audio", "auto_review", "background_terminal_max_timeout",
	"chatgpt_base_url", "check_for_update_on_startup", "cli_auth_credentials_store", "commit_attribution", "compact_prompt", "debug",
	"default_permissions", "desktop", "developer_instructions", "disable_paste_burst", "disable_response_storage", "experimental_compact_prompt_file",
	"experimental_instructions_file", "experimental_resume", "experimental_use_exec_command_tool", "experimental_use_freeform_apply_patch",
	"experimental_use_rmcp_client", "experimental_use_unified_exec_tool", "features", "feedback", "file_opener", "forced_chatgpt_workspace_id",
	"forced_login_method", "ghost_snapshot", "hide_agent_reasoning", "history", "hooks", "include_apply_patch_tool", "instructions", "js_repl_node_path",
	"log_dir", "marketplaces", "mcp_enterprise_managed_auth", "memories", "model", "model_auto_compact_token_limit", "model_catalog_json",
	"model_context_window", "model_instructions_file", "model_max_output_tokens", "model_provider", "model_providers", "model_reasoning_effort",
	"model_reasoning_summary", "model_supports_reasoning_summaries", "model_verbosity", "notice", "notify", "openai_base_url", "oss_provider", "otel",
	"permissions", "personality", "plan_mode_reasoning_effort", "plugins", "preferred_auth_method", "profile", "profiles", "project_doc_fallback_filenames",
	"project_doc_max_bytes", "project_root_markers", "projects", "review_model", "sandbox_mode", "sandbox_workspace_write", "service_tier",
	"shell_environment_policy", "show_raw_agent_reasoning", "skills", "sqlite_home", "suppress_unstable_features_warning", "tool_output_token_limit",
	"tool_suggest", "tools", "tools_view_image", "tui", "web_search", "windows", "windows_wsl_setup_acknowledged", "zsh_path",
}

// foreignServer tells users of other products what their keys are called here.
var foreignServer = map[string]string{
	"type":           "remove it: command means stdio, url means Streamable HTTP",
	"transport":      "remove it: command means stdio, url means Streamable HTTP",
	"transportType":  "remove it: command means stdio, url means Streamable HTTP",
	"headers":        "write http_headers",
	"http_header":    "write http_headers",
	"requestInit":    "write http_headers",
	"serverUrl":      "write url",
	"server_url":     "write url",
	"httpUrl":        "write url",
	"http_url":       "write url",
	"baseUrl":        "write url",
	"endpoint":       "write url",
	"uri":            "write url",
	"cmd":            "write command",
	"executable":     "write command",
	"arguments":      "write args",
	"environment":    "write env",
	"envFile":        "write env, or name the variables in env_vars",
	"env_file":       "write env, or name the variables in env_vars",
	"envVars":        "write env_vars",
	"workingDir":     "write cwd",
	"working_dir":    "write cwd",
	"dir":            "write cwd",
	"timeout":        "write tool_timeout_sec or startup_timeout_sec; both are in seconds",
	"timeout_ms":     "write tool_timeout_sec or startup_timeout_sec; both are in seconds",
	"timeoutMs":      "write tool_timeout_sec or startup_timeout_sec; both are in seconds",
	"initTimeout":    "write startup_timeout_sec, in seconds",
	"trust":          `write default_tools_approval_mode = "approve"`,
	"trusted":        `write default_tools_approval_mode = "approve"`,
	"disabled":       "write enabled = false",
	"disable":        "write enabled = false",
	"active":         "write enabled",
	"isActive":       "write enabled",
	"autoApprove":    `write approval_mode = "approve" in [mcp_servers.<name>.tools.<tool>]`,
	"auto_approve":   `write approval_mode = "approve" in [mcp_servers.<name>.tools.<tool>]`,
	"alwaysAllow":    `write approval_mode = "approve" in [mcp_servers.<name>.tools.<tool>]`,
	"always_allow":   `write approval_mode = "approve" in [mcp_servers.<name>.tools.<tool>]`,
	"includeTools":   "write enabled_tools",
	"allowedTools":   "write enabled_tools",
	"allowed_tools":  "write enabled_tools",
	"excludeTools":   "write disabled_tools",
	"excluded_tools": "write disabled_tools",
	"disabledTools":  "write disabled_tools",
	"headersHelper":  "write http_headers_helper",
	"authToken":      "write bearer_token_env_var, with the name of a variable",
	"auth_token":     "write bearer_token_env_var, with the name of a variable",
	"token":          "write bearer_token_env_var, with the name of a variable",
	"apiKey":         "write bearer_token_env_var, with the name of a variable",
	"api_key":        "write bearer_token_env_var, with the name of a variable",
}

// foreignTop does the same for the top level.
var foreignTop = map[string]string{
	"mcpServers":      "write mcp_servers",
	"mcp-servers":     "write mcp_servers",
	"mcp_server":      "write mcp_servers",
	"mcp":             "write mcp_servers",
	"servers":         "write mcp_servers",
	"context_servers": "write mcp_servers",
	"inputs":          "write ${env:NAME} where the value is needed",
}

// codexServer are the keys of a Codex entry that change nothing here. The
// words are those values that mean what happens anyway and need no warning;
// an empty list stands for any value.
var codexServer = map[string][]string{
	"name":                     nil,
	"auth":                     {"oauth"},
	"environment_id":           {"local"},
	"experimental_environment": {"local"},
}

func hintTop(key string) string {
	if hint, ok := foreignTop[key]; ok {
		return hint
	}
	if slices.Contains(serverNames(), key) {
		return "it belongs into a [mcp_servers.<name>] table"
	}
	if near := nearest(key, topNames()); near != "" {
		return didYouMean(near)
	}
	if near := nearest(key, serverNames()); near != "" {
		return `did you mean "` + near + `", in a [mcp_servers.<name>] table?`
	}
	return ""
}

func hintServer(key string) string {
	if hint, ok := foreignServer[key]; ok {
		return hint
	}
	if findTop(key) != nil {
		return "it belongs to the top level of the file, above the first [table]"
	}
	return suggest(key, serverNames())
}

// didYouMean asks whether a word of ours was meant.
func didYouMean(word string) string { return `did you mean "` + word + `"?` }

// suggest names the nearest of the known keys.
func suggest(key string, known []string) string {
	if near := nearest(key, known); near != "" {
		return didYouMean(near)
	}
	return ""
}

// hintNested explains an unknown key in a table below a server. TOML's usual
// trap comes first: a key written after a [sub.table] belongs to that table.
func hintNested(key string, known []string, server string) string {
	if slices.Contains(serverNames(), key) {
		return "it belongs to the server itself: write it above this table, under " + header(server)
	}
	if near := nearest(key, known); near != "" {
		return didYouMean(near)
	}
	if hint, ok := foreignServer[key]; ok {
		return hint
	}
	return ""
}

func header(server string) string { return "[" + formatKey([]string{serversKey, server}) + "]" }

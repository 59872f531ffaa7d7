package elicit

// A sentence is a ready question for one tool, under all names that it goes by.
type sentence struct {
	// servers are the names that servers of this kind are usually configured
	// under, separated by blanks; none means any server, so that the tool's
	// name alone must say what it does.
	servers string
	// tools are raw tool names or titles, separated by |.
	tools  string
	text   string
	params string // names of arguments, what matters most first
}

// The kinds of servers below. Names are compared as normalServer leaves them.
const (
	gitHub     = "github gh githubenterprise githubcopilot"
	gitLab     = "gitlab zereightgitlab"
	jira       = "jira atlassian atlassianjira"
	confluence = "confluence atlassian atlassianconfluence"
	calendar   = "calendar googlecalendar gcal"
	drive      = "drive googledrive gdrive"
	database   = "postgres postgresql mysql mariadb sqlite mssql sqlserver duckdb database db supabase neon snowflake bigquery clickhouse redshift"
	mongo      = "mongo mongodb"
	playwright = "playwright browser"
	devTools   = "chromedevtools devtools chrome"
	kubernetes = "kubernetes k8s kubectl"
	commander  = "desktopcommander commander"
	assistant  = "homeassistant hass ha"
)

// sentences is the only list of ready questions. The wording is ours; names of
// tools and arguments are those of servers in use. A text says what the tool
// does and nothing about whether that is harmless.
var sentences = []sentence{
	// Any server: only names that leave no doubt.
	{"", "create_issue|createIssue", "Allow {server} to open an issue?", "owner repo project_id title body description"},
	{"", "update_issue", "Allow {server} to change an issue?", "owner repo id issue_number issue_iid title body state"},
	{"", "delete_issue", "Allow {server} to delete an issue?", "owner repo project_id id issue_iid issue_key"},
	{"", "close_issue", "Allow {server} to close an issue?", "owner repo issue_number id"},
	{"", "add_issue_comment|create_issue_comment|comment_on_issue", "Allow {server} to comment on an issue?", "owner repo issue_number body"},
	{"", "create_pull_request|open_pull_request", "Allow {server} to open a pull request?", "owner repo title head base body"},
	{"", "update_pull_request", "Allow {server} to change a pull request?", "owner repo pullNumber title body state base"},
	{"", "merge_pull_request", "Allow {server} to merge a pull request?", "owner repo pullNumber pull_number merge_method commit_title"},
	{"", "close_pull_request", "Allow {server} to close a pull request?", "owner repo pullNumber pull_number"},
	{"", "add_pull_request_comment|create_pull_request_comment|comment_on_pull_request", "Allow {server} to comment on a pull request?", "owner repo pullNumber body"},
	{"", "create_merge_request", "Allow {server} to open a merge request?", "project_id title source_branch target_branch description"},
	{"", "merge_merge_request", "Allow {server} to merge a merge request?", "project_id merge_request_iid merge_commit_message"},
	{"", "create_branch", "Allow {server} to create a branch?", "owner repo project_id branch from_branch ref name"},
	{"", "delete_branch", "Allow {server} to delete a branch?", "owner repo project_id branch branch_name"},
	{"", "create_repository", "Allow {server} to create a repository?", "organization name private visibility description"},
	{"", "fork_repository", "Allow {server} to fork a repository?", "owner repo organization project_id namespace"},
	{"", "delete_repository", "Allow {server} to delete a repository?", "owner repo"},
	{"", "create_release", "Allow {server} to publish a release?", "owner repo project_id tag_name name body"},
	{"", "push_files", "Allow {server} to commit and push files?", "owner repo project_id branch message commit_message files"},
	{"", "git_commit", "Allow {server} to commit to a Git repository?", "path repo_path message amend"},
	{"", "git_push", "Allow {server} to push to a remote Git repository?", "path remote branch force"},
	{"", "write_file", "Allow {server} to write a file?", "path file_path content"},
	{"", "create_file", "Allow {server} to create a file?", "path file_path name content"},
	{"", "edit_file", "Allow {server} to edit a file?", "path file_path edits dryRun"},
	{"", "create_or_update_file", "Allow {server} to create or change a file?", "owner repo project_id branch path file_path message content"},
	{"", "delete_file|remove_file", "Allow {server} to delete a file?", "owner repo branch path file_path message"},
	{"", "move_file|rename_file", "Allow {server} to move or rename a file or a folder?", "source destination"},
	{"", "create_directory", "Allow {server} to create a folder?", "path"},
	{"", "delete_directory|remove_directory", "Allow {server} to delete a folder?", "path"},
	{"", "upload_file", "Allow {server} to upload a file?", "path file_path filePath name"},
	{"", "share_file", "Allow {server} to share a file with others?", "fileId file_id email role"},
	{"", "run_command|execute_command|run_shell_command|run_terminal_cmd|run_in_terminal", "Allow {server} to run a command?", "command args cwd"},
	{"", "execute_sql|run_sql|execute_sql_query|run_sql_query", "Allow {server} to run SQL?", "sql query project_id databaseName"},
	{"", "send_email", "Allow {server} to send an e-mail?", "to cc bcc subject body"},
	{"", "draft_email|create_draft_email", "Allow {server} to write a draft of an e-mail?", "to subject body"},
	{"", "reply_to_email", "Allow {server} to answer an e-mail?", "messageId to body"},
	{"", "delete_email", "Allow {server} to delete an e-mail?", "messageId"},
	{"", "send_message", "Allow {server} to send a message?", "to channel channel_id chat_id recipient text message"},
	{"", "create_calendar_event|createCalendarEvent", "Allow {server} to put an event into a calendar?", "calendarId summary title start end attendees"},
	{"", "update_calendar_event|updateCalendarEvent", "Allow {server} to change an event in a calendar?", "calendarId eventId summary start end attendees"},
	{"", "delete_calendar_event|deleteCalendarEvent", "Allow {server} to delete an event from a calendar?", "calendarId eventId"},
	{"", "cancel_workflow_run|cancel_pipeline", "Allow {server} to cancel a run that is in progress?", "owner repo run_id project_id pipeline_id"},

	// Code hosts.
	{gitHub, "add_issue_comment|Add comment to issue or pull request", "Allow {server} to comment on an issue or a pull request?", "owner repo issue_number body"},
	{gitHub, "issue_write|Create or update issue/pull request", "Allow {server} to create or change an issue?", "method owner repo issue_number title body state"},
	{gitHub, "add_pull_request_review_comment|add_comment_to_pending_review", "Allow {server} to add a comment to a pull request's review?", "owner repo pullNumber path line body"},
	{gitHub, "add_reply_to_pull_request_comment", "Allow {server} to answer a comment on a pull request?", "owner repo pullNumber commentId body"},
	{gitHub, "create_pull_request_review|pull_request_review_write", "Allow {server} to review a pull request?", "method event owner repo pullNumber pull_number body"},
	{gitHub, "submit_pending_pull_request_review", "Allow {server} to submit a review of a pull request?", "event owner repo pullNumber body"},
	{gitHub, "update_pull_request_state", "Allow {server} to close or reopen a pull request?", "state owner repo pullNumber"},
	{gitHub, "update_issue_state", "Allow {server} to close or reopen an issue?", "state owner repo issue_number"},
	{gitHub, "update_pull_request_branch", "Allow {server} to bring a pull request's branch up to date?", "owner repo pullNumber pull_number"},
	{gitHub, "request_pull_request_reviewers", "Allow {server} to ask people for a review?", "owner repo pullNumber reviewers"},
	{gitHub, "actions_run_trigger", "Allow {server} to start, repeat or cancel a workflow, or to delete its logs?", "method owner repo workflow_id run_id ref"},
	{gitHub, "run_workflow", "Allow {server} to start a workflow?", "owner repo workflow_id ref inputs"},
	{gitHub, "create_gist", "Allow {server} to create a gist?", "public filename description content"},
	{gitHub, "sub_issue_write|add_sub_issue|remove_sub_issue", "Allow {server} to change which issues belong to an issue?", "method owner repo issue_number sub_issue_id"},
	{gitHub, "star_repository", "Allow {server} to star a repository?", "owner repo"},
	{gitLab, "create_note", "Allow {server} to comment on an issue or a merge request?", "project_id noteable_type noteable_iid body"},
	{gitLab, "create_merge_request_note|create_merge_request_thread", "Allow {server} to comment on a merge request?", "project_id merge_request_iid body"},
	{gitLab, "create_issue_note", "Allow {server} to comment on an issue?", "project_id issue_iid body"},
	{gitLab, "update_merge_request", "Allow {server} to change a merge request?", "project_id merge_request_iid title state_event target_branch"},
	{gitLab, "approve_merge_request", "Allow {server} to approve a merge request?", "project_id merge_request_iid"},
	{gitLab, "create_pipeline|trigger_pipeline", "Allow {server} to start a pipeline?", "project_id ref variables"},
	{gitLab, "create_deployment", "Allow {server} to record a deployment?", "project_id environment ref status"},

	// Trackers and pages.
	{"linear", "create_comment|save_comment", "Allow {server} to comment on an issue?", "issueId body"},
	{"linear", "save_issue", "Allow {server} to create or change an issue?", "id team title state assignee description"},
	{"linear", "create_project|save_project|update_project", "Allow {server} to create or change a project?", "id name team summary"},
	{jira, "createJiraIssue|jira_create_issue", "Allow {server} to create a Jira issue?", "projectKey project_key issueTypeName issue_type summary description"},
	{jira, "editJiraIssue|jira_update_issue", "Allow {server} to change a Jira issue?", "issueIdOrKey issue_key fields"},
	{jira, "transitionJiraIssue|jira_transition_issue", "Allow {server} to move a Jira issue to another status?", "issueIdOrKey issue_key transition transition_id"},
	{jira, "addCommentToJiraIssue|jira_add_comment", "Allow {server} to comment on a Jira issue?", "issueIdOrKey issue_key commentBody comment body"},
	{jira, "jira_delete_issue", "Allow {server} to delete a Jira issue?", "issue_key"},
	{jira, "addWorklogToJiraIssue|jira_add_worklog", "Allow {server} to log time on a Jira issue?", "issueIdOrKey issue_key timeSpent time_spent"},
	{jira, "jira_post|jira_put|jira_patch", "Allow {server} to write to Jira's interface?", "path body queryParams"},
	{jira, "jira_delete", "Allow {server} to delete something through Jira's interface?", "path queryParams"},
	{confluence, "createConfluencePage|confluence_create_page", "Allow {server} to create a Confluence page?", "spaceId space_key title parentId body content"},
	{confluence, "updateConfluencePage|confluence_update_page", "Allow {server} to change a Confluence page?", "pageId page_id title body content"},
	{confluence, "confluence_delete_page", "Allow {server} to delete a Confluence page?", "page_id"},
	{confluence, "createConfluenceFooterComment|createConfluenceInlineComment|confluence_add_comment", "Allow {server} to comment on a Confluence page?", "pageId page_id body content"},
	{"notion", "notion-create-pages|API-post-page", "Allow {server} to create Notion pages?", "parent pages properties"},
	{"notion", "notion-update-page|API-patch-page|API-patch-block-children", "Allow {server} to change a Notion page?", "page_id block_id command properties"},
	{"notion", "notion-create-comment|API-create-a-comment", "Allow {server} to comment on a Notion page?", "page_id parent rich_text"},
	{"notion", "notion-move-pages", "Allow {server} to move Notion pages?", "page_or_database_ids new_parent"},
	{"notion", "API-delete-a-block", "Allow {server} to delete a part of a Notion page?", "block_id"},
	{"asana", "asana_create_task|asana_create_subtask", "Allow {server} to create a task?", "project_id parent_task_id name assignee due_on notes"},
	{"asana", "asana_update_task", "Allow {server} to change a task?", "task_id name assignee due_on completed notes"},
	{"asana", "asana_delete_task", "Allow {server} to delete a task?", "task_id"},
	{"asana", "asana_create_task_story", "Allow {server} to comment on a task?", "task_id text"},
	{"airtable", "create_record", "Allow {server} to add a record to a table?", "baseId tableId fields"},
	{"airtable", "update_records", "Allow {server} to change records of a table?", "baseId tableId records"},
	{"airtable", "delete_records", "Allow {server} to delete records of a table?", "baseId tableId recordIds"},
	{"airtable", "create_table|update_table|create_field|update_field", "Allow {server} to change the structure of a base?", "baseId tableId name fields"},

	// Messages, calendars, files of others.
	{"slack", "slack_post_message|slack_send_message|conversations_add_message", "Allow {server} to post a message?", "channel_id thread_ts text message payload"},
	{"slack", "slack_reply_to_thread", "Allow {server} to reply in a thread?", "channel_id thread_ts text"},
	{"slack", "slack_add_reaction|reactions_add", "Allow {server} to add a reaction to a message?", "channel_id timestamp reaction emoji"},
	{"gmail", "batch_delete_emails", "Allow {server} to delete several e-mails?", "messageIds"},
	{"gmail", "modify_email|batch_modify_emails", "Allow {server} to change the labels of e-mails?", "messageId messageIds addLabelIds removeLabelIds"},
	{calendar, "create-event|create-events", "Allow {server} to put an event into a calendar?", "calendarId summary start end attendees events"},
	{calendar, "update-event", "Allow {server} to change an event in a calendar?", "calendarId eventId summary start end attendees"},
	{calendar, "delete-event", "Allow {server} to delete an event from a calendar?", "calendarId eventId sendUpdates"},
	{calendar, "respond-to-event", "Allow {server} to answer an invitation?", "calendarId eventId response comment"},
	{drive, "createTextFile|createFolder", "Allow {server} to create a file or folder in Drive?", "name parentFolderId content"},
	{drive, "uploadFile", "Allow {server} to upload a file to Drive?", "localPath name parentFolderId"},
	{drive, "deleteItem", "Allow {server} to delete something from Drive?", "itemId"},
	{drive, "shareFile", "Allow {server} to share a file in Drive with others?", "fileId emailAddress email role"},

	// Data.
	{database, "query|execute_query|run_query", "Allow {server} to run a database query?", "sql query"},
	{database, "write_query|insert_data|update_data", "Allow {server} to change data in a database?", "query sql table data"},
	{database, "delete_data", "Allow {server} to delete data from a database?", "query sql table where"},
	{database, "create_table", "Allow {server} to create a table in a database?", "query sql name"},
	{database, "drop_table", "Allow {server} to drop a table, with its data?", "table name"},
	{database, "apply_migration|complete_database_migration", "Allow {server} to change the structure of a database?", "project_id name query migrationId"},
	{mongo, "insert-many|insert_one|insert_many", "Allow {server} to insert into a collection?", "database collection documents"},
	{mongo, "update-many|update_one|update_many", "Allow {server} to change documents of a collection?", "database collection filter update"},
	{mongo, "delete-many|delete_one|delete_many", "Allow {server} to delete documents of a collection?", "database collection filter"},
	{mongo, "drop-collection", "Allow {server} to drop a collection, with its data?", "database collection"},
	{mongo, "drop-database", "Allow {server} to drop a database, with its data?", "database"},
	{"memory knowledgegraph", "create_entities", "Allow {server} to remember new things?", "entities"},
	{"memory knowledgegraph", "create_relations|add_observations", "Allow {server} to add to what it remembers?", "relations observations"},
	{"memory knowledgegraph", "delete_entities|delete_observations|delete_relations", "Allow {server} to forget what it remembers?", "entityNames deletions relations"},

	// Browsers.
	{playwright, "browser_navigate|playwright_navigate", "Allow {server} to open a web page?", "url"},
	{playwright, "browser_click|playwright_click", "Allow {server} to click on a web page?", "element target selector"},
	{playwright, "browser_type|browser_fill_form|playwright_fill", "Allow {server} to fill in a web page?", "element target selector text value fields submit"},
	{playwright, "browser_evaluate|playwright_evaluate|browser_run_code_unsafe", "Allow {server} to run code in the browser?", "function code script element"},
	{playwright, "browser_file_upload|playwright_upload_file", "Allow {server} to give files to a web page?", "paths filePath selector"},
	{"puppeteer", "puppeteer_navigate", "Allow {server} to open a web page?", "url"},
	{"puppeteer", "puppeteer_click|puppeteer_select", "Allow {server} to click on a web page?", "selector value"},
	{"puppeteer", "puppeteer_fill", "Allow {server} to fill in a web page?", "selector value"},
	{"puppeteer", "puppeteer_evaluate", "Allow {server} to run code in the browser?", "script"},
	{devTools, "navigate_page|new_page", "Allow {server} to open a web page?", "url type"},
	{devTools, "click", "Allow {server} to click on a web page?", "uid dblClick"},
	{devTools, "fill|fill_form|type_text", "Allow {server} to fill in a web page?", "uid value text elements"},
	{devTools, "evaluate_script", "Allow {server} to run code in the browser?", "function args"},

	// Machines and services.
	{kubernetes, "kubectl_apply|kubectl_create|kubectl_patch", "Allow {server} to create or change resources in a cluster?", "context namespace resourceType name manifest filename patchData"},
	{kubernetes, "kubectl_delete", "Allow {server} to delete resources from a cluster?", "context namespace resourceType name labelSelector manifest"},
	{kubernetes, "kubectl_scale", "Allow {server} to scale a workload in a cluster?", "context namespace resourceType name replicas"},
	{kubernetes, "exec_in_pod", "Allow {server} to run a command in a pod?", "context namespace name container command"},
	{kubernetes, "install_helm_chart|upgrade_helm_chart", "Allow {server} to install or upgrade a chart in a cluster?", "context namespace name chart values"},
	{kubernetes, "uninstall_helm_chart", "Allow {server} to uninstall a chart from a cluster?", "context namespace name"},
	{"docker", "run_container|create_container|recreate_container", "Allow {server} to create or run a container?", "image name command volumes ports"},
	{"docker", "remove_container|remove_image|remove_volume|remove_network", "Allow {server} to remove something from Docker?", "container_id image volume_name network_id force"},
	{commander + " terminal shell", "start_process", "Allow {server} to start a program on this computer?", "command shell"},
	{commander, "interact_with_process", "Allow {server} to type into a running program?", "pid input"},
	{commander, "kill_process|force_terminate", "Allow {server} to end a running program?", "pid"},
	{commander, "edit_block", "Allow {server} to edit a file?", "file_path old_string new_string"},
	{commander, "set_config_value", "Allow {server} to change its own settings?", "key value"},
	{"netlify", "netlify-deploy-services-updater", "Allow {server} to deploy a site?", "selectSchema"},
	{"vercel", "deploy_to_vercel", "Allow {server} to deploy a project?", "projectId target"},
	{"supabase", "deploy_edge_function", "Allow {server} to deploy a function?", "project_id name files"},
	{"neon supabase", "create_branch", "Allow {server} to create a branch of a database?", "project_id name"},
	{"neon supabase", "delete_branch", "Allow {server} to delete a branch of a database, with its data?", "branch_id project_id"},
	{"neon supabase", "delete_project", "Allow {server} to delete a project, with its databases?", "project_id projectId"},
	{"stripe", "create_refund", "Allow {server} to refund a payment?", "payment_intent amount"},
	{"stripe", "create_invoice|create_invoice_item", "Allow {server} to add to an invoice, or to start one?", "customer invoice price days_until_due"},
	{"stripe", "finalize_invoice", "Allow {server} to finalize an invoice?", "invoice"},
	{"stripe", "create_payment_link", "Allow {server} to create a link for payments?", "price quantity redirect_url"},
	{"stripe", "update_subscription", "Allow {server} to change a subscription?", "subscription items proration_behavior"},
	{"stripe", "cancel_subscription", "Allow {server} to cancel a subscription?", "subscription"},
	{"spotify", "playMusic|resumePlayback|addToQueue", "Allow {server} to play music?", "uri type id deviceId"},
	{"spotify", "createPlaylist|addTracksToPlaylist", "Allow {server} to create or change a playlist?", "name playlistId trackIds public"},
	{assistant, "HassTurnOn", "Allow {server} to turn something on?", "name area floor domain"},
	{assistant, "HassTurnOff", "Allow {server} to turn something off?", "name area floor domain"},
	{assistant, "call_service|ha_call_service", "Allow {server} to control a device at home?", "domain service entity_id data"},
}

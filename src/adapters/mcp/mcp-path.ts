/** The path at which `hive serve` answers MCP. Separate from the server, so that a client need not load one. */
export const MCP_PATH = '/mcp';

/** The header with which the bridge reports its parent process, as the hooks know it (`CLAUDE_PID`). */
export const PARENT_PID = 'hive-parent-pid';

/** Where `hive serve` answers MCP; apart from the server, so that who only calls it need not load one. */
export const MCP_PATH = '/mcp';

/** The header in which the bridge tells whose child it is over there, as the hooks know it (`CLAUDE_PID`). */
export const PARENT_PID = 'hive-parent-pid';

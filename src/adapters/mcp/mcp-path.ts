/** Where `hive serve` answers MCP; apart from the server, so that who only calls it need not load one. */
export const MCP_PATH = '/mcp';

/** HTTP servers of tests. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { whenFinished } from './lifetime.ts';

/** Lets it listen on this machine until the test, or the file, ends; returns its origin. */
export async function listen(server: Server, port = 0): Promise<string> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  whenFinished(() => closeServer(server));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Ends it with its connections. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** The network between a page and its server: a TCP proxy on loopback that cuts connections and loses replies. */
import { connect, createServer, type Socket } from 'node:net';
import { whenFinished } from '../../support/lifetime.ts';

export interface CuttingProxy {
  readonly port: number;
  /** Ends every connection, in the middle of whatever is under way. */
  cut(): void;
  /** From now on the server gets everything, and the page nothing. */
  loseReplies(): void;
  /** Cuts what is open; new connections work. */
  heal(): void;
}

export async function cuttingProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let losing = false;

  function pass(from: Socket, to: Socket, isReply: boolean): void {
    sockets.add(from);
    from.on('data', (bytes) => {
      if (!(isReply && losing)) to.write(bytes);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  const server = createServer((page) => {
    const behind = connect(target, '127.0.0.1');
    pass(page, behind, false);
    pass(behind, page, true);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  whenFinished(async () => {
    cut();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut,
    loseReplies() {
      losing = true;
    },
    heal() {
      losing = false;
      cut();
    },
  };
}

/** A faulty connection: a TCP proxy on loopback that swallows, delays or cuts what goes through it. */
import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface TcpProxy {
  readonly port: number;
  /** From now on every byte is swallowed silently (half-open), also on new connections. */
  swallow(): void;
  /** How many bytes were swallowed since then. */
  swallowed(): number;
  /** New connections work again; old ones stay dead. */
  recover(): void;
  /** New connections go to another port, like an address that moves; old ones are cut. */
  redirect(port: number): void;
  /** Delays both directions. */
  delay(ms: number): void;
}

export async function tcpProxy(first: number, host = '127.0.0.1'): Promise<TcpProxy> {
  let target = first;
  let swallowing = false;
  let delay_ms = 0;
  let lost = 0;
  const sockets = new Set<Socket>();
  const dead = new WeakSet<Socket>();

  function pass(from: Socket, to: Socket): void {
    sockets.add(from);
    from.on('data', (bytes) => {
      if (swallowing || dead.has(from)) {
        lost += bytes.length;
        return;
      }
      if (delay_ms === 0) to.write(bytes);
      else setTimeout(() => to.writable && to.write(bytes), delay_ms);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      if (!dead.has(from) && !swallowing) to.destroy();
    });
  }

  const server = createServer((inward) => {
    const outward = connect(target, '127.0.0.1');
    pass(inward, outward);
    pass(outward, inward);
    if (swallowing) for (const socket of [inward, outward]) dead.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    swallowed: () => lost,
    swallow() {
      lost = 0;
      swallowing = true;
      for (const socket of sockets) dead.add(socket);
    },
    recover() {
      swallowing = false;
    },
    redirect(port) {
      target = port;
      for (const socket of sockets) socket.destroy();
    },
    delay(ms) {
      delay_ms = ms;
    },
  };
}

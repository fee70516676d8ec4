/** The cost of a sidecar while nothing happens: its share of a processor. */
import { environment, HIVE, processorTime, start, tempFolder } from '../children.ts';
import type { Family } from '../harness.ts';

export const idle: Family = {
  name: 'idle',
  rows: ['sidecar, idle'],
  async measure(effort) {
    const folder = tempFolder();
    const sidecar = start(process.execPath, [HIVE, 'sidecar'], {
      env: environment(folder),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const greeted = new Promise((resolve) => sidecar.stdout?.once('data', resolve));
    send('initialize', { protocol_version: 1, client: { name: 'bench', version: '1' } }, 1);
    await greeted;
    send('initialized', {});
    // Waits until compilation and garbage collection after the start are over.
    await pause(2_000);

    const window = effort === 'full' ? 2_000 : 1_000;
    const samples: number[] = [];
    for (let count = effort === 'full' ? 6 : 2; count > 0; count--) {
      const before = processorTime(sidecar.pid ?? 0);
      const started = performance.now();
      await pause(window);
      samples.push((100 * (processorTime(sidecar.pid ?? 0) - before)) / (performance.now() - started));
    }
    return [
      {
        name: 'sidecar, idle',
        unit: '% of a core',
        samples,
        floor: null,
        target: { of: 'p50', at_most: 0.5 },
      },
    ];

    function send(method: string, params: unknown, id?: number): void {
      const content = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      sidecar.stdin?.write(`Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`);
    }
  },
};

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

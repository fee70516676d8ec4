/** The scripts of a crew as bundles: Node takes 0.3 s of a processor to read all of src/ as TypeScript, in each of many processes. */
import { symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { ROOT, tempFolder } from './children.ts';

/** Bundles these files of bench/peers, and resolves to a function from the name of one to its bundle. */
export async function bundlePeers(...names: string[]): Promise<(name: string) => string> {
  const outdir = tempFolder();
  await build({
    entryPoints: names.map((name) => join(ROOT, 'bench/peers', name)),
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    loader: { '.sql': 'text' },
    packages: 'external',
    logLevel: 'warning',
  });
  symlinkSync(join(ROOT, 'node_modules'), join(outdir, 'node_modules'));
  return (name) => join(outdir, `${basename(name, '.ts')}.mjs`);
}

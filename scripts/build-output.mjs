import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Writes esbuild's output files so that a program starting from dist/ at the same moment sees the old build
 * or the new one: each file appears by rename, and chunks are written before the entries that name them.
 */
export function writeOutput(files) {
  const chunksFirst = [...files].sort((a, b) => Number(isChunk(b)) - Number(isChunk(a)));
  for (const { path, contents } of chunksFirst) {
    if (existsSync(path) && readFileSync(path).equals(contents)) continue;
    mkdirSync(dirname(path), { recursive: true });
    const unfinished = `${path}.${process.pid}.tmp`;
    writeFileSync(unfinished, contents);
    renameSync(unfinished, path);
  }
}

/** Deletes chunks of earlier builds. Not after a quick build: a test run may still import one of them. */
export function removeStale(folder, files) {
  if (!existsSync(folder)) return;
  const current = new Set(files.map(({ path }) => basename(path)));
  for (const name of readdirSync(folder)) {
    if (!current.has(name)) rmSync(join(folder, name));
  }
}

function isChunk({ path }) {
  return basename(dirname(path)) === 'chunks';
}

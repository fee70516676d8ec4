import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The licence texts of the packages in our bundles, as those licences require. */
export function noticesOf(root, results) {
  const folders = new Set();
  for (const { metafile } of results) {
    for (const input of Object.values(metafile.outputs).flatMap((output) => Object.keys(output.inputs))) {
      const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
      if (folder) folders.add(folder);
    }
  }
  const notices = [...folders].sort().map((folder) => noticeOf(join(root, folder)));
  return ['The files in this folder contain parts of these packages.', ...notices].join('\n\n');
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file && existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8').trim() : '';
  return `${'-'.repeat(72)}\n${name} ${version} (${license})\n\n${text}`.trimEnd();
}

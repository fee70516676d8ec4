// `npm run release [-- FOLDER]`: the files of a release, by default in release/. Two runs make the same bytes.
//   hive-sidecar-VERSION.tgz   the program, as npm would publish it; `hive install` installs it
//   hive-mode-VERSION.tar      the Emacs package, with autoloads and the Info manual; package-install-file installs it
//   hive-plugin-VERSION.zip    the plugin for Claude Code
//   CHANGES.md                 the section of the changelog
//   SHA256SUMS                 the checksums of all
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { filesBelow, tarOf, zipOf } from './archives.mjs';

const root = join(import.meta.dirname, '..');
const folder = resolve(process.argv[2] ?? join(root, 'release'));
const read = (name) => readFileSync(join(root, name), 'utf8');
const { version } = JSON.parse(read('package.json'));

refuseOtherVersions();
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder).filter((each) =>
  /^hive-.*\.(?:tgz|tar|zip)$|^CHANGES\.md$|^SHA256SUMS$/.test(each),
))
  rmSync(join(folder, name));
run('npm', 'pack', root, '--ignore-scripts', '--silent', '--pack-destination', folder);
writeFileSync(join(folder, `hive-mode-${version}.tar`), emacsPackage());
writeFileSync(join(folder, `hive-plugin-${version}.zip`), zipOf(filesBelow(join(root, 'plugin'))));
writeFileSync(join(folder, 'CHANGES.md'), changes());
const names = [
  'CHANGES.md',
  `hive-mode-${version}.tar`,
  `hive-plugin-${version}.zip`,
  `hive-sidecar-${version}.tgz`,
];
const sums = names.map((name) => `${digestOf(join(folder, name))}  ${name}\n`).join('');
writeFileSync(join(folder, 'SHA256SUMS'), sums);
process.stdout.write(`${folder}:\n${sums}`);

function digestOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function refuseOtherVersions() {
  const others = {
    'plugin/.claude-plugin/plugin.json': JSON.parse(read('plugin/.claude-plugin/plugin.json')).version,
    'examples/devcontainer/hive/devcontainer-feature.json': JSON.parse(
      read('examples/devcontainer/hive/devcontainer-feature.json'),
    ).version,
    'elisp/hive-mode.el': /^;; Version: (.*)$/m.exec(read('elisp/hive-mode.el'))?.[1],
  };
  for (const [name, other] of Object.entries(others)) {
    if (other !== version) throw new Error(`${name} has version ${other}, but package.json has ${version}.`);
  }
}

/** A tar archive as package.el requires it: one folder with the version in its name. */
function emacsPackage() {
  const workshop = mkdtempSync(join(tmpdir(), 'hive-release-'));
  const name = `hive-mode-${version}`;
  const place = join(workshop, name);
  mkdirSync(place);
  try {
    const parts = readdirSync(join(root, 'elisp')).filter((each) =>
      /^[^.].*\.el$|^hive\.info$|^dir$/.test(each),
    );
    for (const each of parts.filter((part) => !/-autoloads\.el$/.test(part)))
      copyFileSync(join(root, 'elisp', each), join(place, each));
    copyFileSync(join(root, 'LICENSE'), join(place, 'LICENSE'));
    if (!parts.includes('hive.info'))
      throw new Error('There is no elisp/hive.info: the manual was not made.');
    const form = `(progn
      (setq text-quoting-style 'curve
            coding-system-for-read 'utf-8-unix coding-system-for-write 'utf-8-unix)
      (require 'package)
      (let ((description (with-temp-buffer
                           (insert-file-contents "${name}/hive-mode.el") (package-buffer-info))))
        (package-generate-description-file description "${name}/hive-mode-pkg.el")
        (package-generate-autoloads 'hive-mode (expand-file-name "${name}"))))`;
    run('emacs', '-Q', '--batch', '--chdir', workshop, '--eval', form);
    return tarOf(filesBelow(place).map((file) => ({ ...file, name: `${name}/${file.name}` })));
  } finally {
    rmSync(workshop, { recursive: true });
  }
}

/** The section of this version, or, until it has one, the unreleased section. */
function changes() {
  const sections = read('CHANGELOG.md').split(/^(?=## )/m);
  const section =
    sections.find((each) => each.startsWith(`## ${version}`)) ??
    sections.find((each) => each.startsWith('## Unreleased'));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section for ${version}.`);
  return section.replace(/^## .*/, `# Hive ${version}`);
}

function run(program, ...args) {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`"${program} ${args[0]}" failed: ${error?.message ?? stderr}`);
}

/** The name that people give to a project, which chooses no program that Hive starts. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { projectName } from '../../src/domain/preferences.ts';
import { withoutProject } from '../../src/infrastructure/platform/project-path.ts';
import { tempFolder } from '../support/temp.ts';

test('is named after its folder: of a clone, of a bare repository, without a repository', () => {
  const names = ['/src/repo/.git', '/src/repo.git', '/src/notes', 'C:\\src\\repo\\.git'].map(projectName);
  expect(names).toEqual(['repo', 'repo', 'notes', 'repo']);
});

test('has a name wherever it is', () => {
  expect(['/', '/.git', ''].map(projectName)).toEqual(['/', '/.git', '']);
});

test.each(['/home/ada', '', 'ada'])(
  'its programs are not on the PATH of what is started, where HOME is %j',
  (home) => {
    vi.stubEnv('HOME', home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const project = tempFolder();
    mkdirSync(join(project, '.git'));
    const PATH = `${join(project, 'node_modules/.bin')}:/usr/bin`;
    expect(withoutProject({ PATH }, project)['PATH']).toBe('/usr/bin');
  },
);

/** What people call a project. */
import { expect, test } from 'vitest';
import { projectName } from '../../src/domain/preferences.ts';

test('is named after its folder: of a clone, of a bare repository, without a repository', () => {
  const names = ['/src/repo/.git', '/src/repo.git', '/src/notes', 'C:\\src\\repo\\.git'].map(projectName);
  expect(names).toEqual(['repo', 'repo', 'notes', 'repo']);
});

test('has a name wherever it is', () => {
  expect(['/', '/.git', ''].map(projectName)).toEqual(['/', '/.git', '']);
});

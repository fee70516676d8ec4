/** What people call a project. */
import { expect, test } from 'vitest';
import { projectName } from '../../src/domain/preferences.ts';

test('is called after its folder: of a clone, of a bare repository, of none', () => {
  const names = ['/src/repo/.git', '/src/repo.git', '/src/notes', 'C:\\src\\repo\\.git'].map(projectName);
  expect(names).toEqual(['repo', 'repo', 'notes', 'repo']);
});

test('is called something wherever it lies', () => {
  expect(['/', '/.git', ''].map(projectName)).toEqual(['/', '/.git', '']);
});

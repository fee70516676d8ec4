/** What people call a project. */

/** The short name of an identity: `repo` of `/src/repo/.git` and of `/src/repo.git`, else the last folder. */
export function projectName(project_dir: string): string {
  const parts = project_dir.split(/[/\\]/).filter((part) => part !== '' && part !== '.git');
  return parts.at(-1)?.replace(/\.git$/, '') || project_dir;
}

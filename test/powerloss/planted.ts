/** Deliberate bugs that only a power cut shows. They are compiled in only where they are asked for (src/ambient.d.ts). */
export const PLANTED: Readonly<Record<PlantedFault, { what: string; scenario: string }>> = {
  unflushed: {
    what: 'a write that changed nothing returns before the log is flushed',
    scenario: 'killed-then-cut',
  },
  'reused-numbers': {
    what: 'after a restart event numbers continue from what is on the disk',
    scenario: 'steady',
  },
  'unflushed-copy': { what: 'a copy is reported before its name is on disk', scenario: 'copy' },
};

/** @throws Error that names what there is. */
export function plantedNamed(name: string): PlantedFault {
  const found = (Object.keys(PLANTED) as PlantedFault[]).find((one) => one === name);
  if (found === undefined)
    throw new Error(`There is no planted fault "${name}"; there are ${Object.keys(PLANTED).join(', ')}.`);
  return found;
}

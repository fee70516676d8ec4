/**
 * Faults that only a power cut shows. Each is a flush that a program leaves out, or a restart that it does not notice. The
 * flush is left out of the recording: the disk then is that of a program without it.
 */
import type { Call } from './disk.ts';

export interface Planted {
  what: string;
  /** The scenario that must find it. */
  scenario: string;
  omits(call: Call): boolean;
  /** Does not notice that the machine was started again. */
  same_start?: boolean;
}

export type PlantedFault = 'unflushed' | 'reused-numbers' | 'unflushed-names';

export const PLANTED: Readonly<Record<PlantedFault, Planted>> = {
  unflushed: {
    what: 'a write that changed nothing returns before the log is flushed',
    scenario: 'killed-then-cut',
    // SQLite opens the log to write; only the driver opens it to read, and flushes it.
    omits: ({ kind, path, offset }) => kind === 'sync' && path.endsWith('-wal') && offset === READ_ONLY,
  },
  'reused-numbers': {
    what: 'after a restart event numbers continue from what is on the disk',
    scenario: 'steady',
    omits: () => false,
    same_start: true,
  },
  'unflushed-names': {
    what: 'a copy is reported before its name is on disk',
    scenario: 'copy',
    omits: ({ kind, path }) => kind === 'sync' && path.endsWith('/elsewhere'),
  },
};

/** The recorder's offset of a flush, if the file was opened only to read. */
const READ_ONLY = 1;

export const PLANTED_NAMES = Object.keys(PLANTED) as PlantedFault[];

/** @throws Error that names what there is. */
export function plantedNamed(name: string): PlantedFault {
  const found = PLANTED_NAMES.find((one) => one === name);
  if (found === undefined)
    throw new Error(`There is no planted fault "${name}"; there are ${PLANTED_NAMES.join(', ')}.`);
  return found;
}

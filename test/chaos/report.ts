/** The report of a run at its end. */
import type { Checked } from './checker.ts';
import { type Evidence, type Fact, factsOf } from './facts.ts';

/** More would hide the first. */
const SHOWN = 5;

export interface Leg {
  engine: string;
  seconds: number;
  struck: ReadonlyMap<string, number>;
  evidence: Evidence;
  checked: readonly Checked[];
}

export function report({ engine, seconds, struck, evidence, checked }: Leg): string {
  const did = (kind: Fact['did']): number => factsOf(evidence, kind).length;
  const failed = Map.groupBy(factsOf(evidence, 'failed'), ({ code }) => code);
  const acts = [
    `${did('asked')} asked`,
    `${did('answered')} answered`,
    `${did('amended')} amended`,
    `${did('cancelled')} taken back`,
    `${did('posted')} posted`,
    `${factsOf(evidence, 'processed').flatMap(({ mention_ids }) => mention_ids).length} mentions processed`,
    `${did('interrupted')} interrupts`,
    `${did('hooked')} tool hooks`,
    `${did('told')} answers read`,
    `${did('saw')} events followed`,
  ];
  return [
    '',
    `${engine}, ${Math.round(seconds)} s`,
    `  faults        ${counted([...struck].map(([fault, count]) => [fault, count]))}`,
    `  acknowledged  ${acts.join(', ')}`,
    `  refused       ${counted([...failed].map(([code, facts]) => [code, facts.length]))}`,
    `  stored        ${evidence.store.prompts.length} prompts, ${evidence.store.messages.length} messages, ${evidence.store.turns.length} turns, ${evidence.store.events.length} events`,
    ...checked.flatMap(checkLines),
  ].join('\n');
}

function checkLines({ name, proves, looked_at, violations }: Checked): string[] {
  const state = violations.length > 0 ? 'BROKEN' : looked_at === 0 ? '-' : 'holds';
  const head = `  ${name.padEnd(16)} ${state.padEnd(6)} ${String(looked_at).padStart(6)} looked at: ${proves}`;
  const more = violations.length - SHOWN;
  return [
    head,
    ...violations.slice(0, SHOWN).map((one) => `      ${one}`),
    ...(more > 0 ? [`      and ${more} more`] : []),
  ];
}

function counted(pairs: readonly (readonly [string, number])[]): string {
  return pairs.length === 0 ? 'none' : pairs.map(([name, count]) => `${count} ${name}`).join(', ');
}

/**
 * Bells by subject: of many in one process that wait for a thing each, a commit wakes those whose thing it
 * touched. Without this each of the 500 polls of `hive serve` would look at the store after every commit of
 * anybody. A hint, as every bell is: where the log cannot say what changed, all are rung.
 */
import type { Store } from './ports.ts';

/** So few look for themselves, which is sooner than to read the log first. */
const FEW = 8;
const PAGE = 500;

export interface SubjectBells {
  /** Rings whenever one of the subjects may have changed, until the returned function is called. */
  watch(subjects: readonly string[], ring: () => void): () => void;
}

interface Waiter {
  subjects: readonly string[];
  ring: () => void;
}

export function createSubjectBells(store: Pick<Store, 'read' | 'watch'>): SubjectBells {
  const waiters = new Set<Waiter>();
  const bySubject = new Map<string, Set<Waiter>>();
  let unwatch: (() => void) | null = null;
  /** Events up to here have rung; null while nobody has read the log. */
  let cursor: number | null = null;
  let reading = false;
  let again = false;

  function ringAll(): void {
    for (const { ring } of [...waiters]) ring();
  }

  /** Everybody whose subject stands in the log since the last time. */
  async function ringTouched(): Promise<void> {
    const from = cursor;
    const { head, pruned, events } = await store.read(async (tx) => ({
      head: await tx.events.head(),
      pruned: await tx.events.pruned(),
      events: from === null ? [] : await tx.events.after(from, PAGE),
    }));
    cursor = head;
    // The beginning, more than a page, or what retention has removed: the log does not say what changed.
    if (from === null || events.length >= PAGE || pruned > from) return ringAll();
    const touched = new Set(events.flatMap(({ subject }) => [...(bySubject.get(subject ?? '') ?? [])]));
    for (const { ring } of touched) ring();
  }

  async function rung(): Promise<void> {
    if (waiters.size <= FEW) {
      cursor = null;
      return ringAll();
    }
    again = true;
    if (reading) return;
    reading = true;
    try {
      while (again) {
        again = false;
        await ringTouched();
      }
    } catch {
      // Whoever waits looks at the store by itself, and says what is wrong with it.
      cursor = null;
      ringAll();
    } finally {
      reading = false;
    }
  }

  return {
    watch(subjects, ring) {
      const waiter = { subjects, ring };
      waiters.add(waiter);
      for (const subject of subjects) {
        const others = bySubject.get(subject) ?? new Set();
        bySubject.set(subject, others.add(waiter));
      }
      unwatch ??= store.watch(() => void rung());
      return () => {
        waiters.delete(waiter);
        for (const subject of subjects) {
          const others = bySubject.get(subject);
          others?.delete(waiter);
          if (others?.size === 0) bySubject.delete(subject);
        }
        if (waiters.size > 0) return;
        unwatch?.();
        unwatch = null;
        cursor = null;
      };
    },
  };
}

/**
 * Imported into every process of a run that shows whether the checker can fail: it turns on the deliberate bug that
 * HIVE_CHAOS_SABOTAGE names. The composition root (src/open-hive.ts) asks it for the store and the services that the process
 * then uses. Bugs that happen now and then are counted, not drawn by lot, so that a seed that found one finds it again.
 */
import type { Hive } from '../../../src/application/hive.ts';
import type { Store, WriteTx } from '../../../src/application/ports.ts';
import type { SabotageName } from '../sabotage.ts';

interface Bug {
  store?: (store: Store) => Store;
  services?: (hive: Partial<Hive>) => Partial<Hive>;
}

/** The same object, with some of its members replaced. */
function altered<Part extends object>(part: Part, changes: Partial<Part>): Part {
  return new Proxy(part, {
    get(target, key) {
      if (Object.hasOwn(changes, key)) return Reflect.get(changes, key);
      const member: unknown = Reflect.get(target, key);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** A store whose write transactions are altered. */
function altering(change: (tx: WriteTx) => Partial<WriteTx>): Bug {
  return {
    store: (store) =>
      altered(store, {
        write: (work) => store.write((tx) => work(altered(tx, change(tx)))),
        writeUnflushed: (work, tells) => store.writeUnflushed((tx) => work(altered(tx, change(tx))), tells),
      }),
  };
}

/** A store in which prompts are settled or changed wrongly. */
function settling(change: (prompts: WriteTx['prompts']) => Partial<WriteTx['prompts']>): Bug {
  return altering(({ prompts }) => ({ prompts: altered(prompts, change(prompts)) }));
}

/** True each n-th time. */
function every(nth: number): () => boolean {
  let asked = 0;
  return () => {
    asked += 1;
    return asked % nth === 0;
  };
}

const ROLLED_BACK = Symbol('rolled back');

function lostCommit(): Bug {
  const isLost = every(20);
  const losing =
    (store: Store): Store['write'] =>
    async (work) => {
      if (!isLost()) return store.write(work);
      let results: Awaited<ReturnType<typeof work>>[] = [];
      try {
        await store.write(async (tx) => {
          results = [await work(tx)];
          throw ROLLED_BACK;
        });
      } catch (error) {
        if (error !== ROLLED_BACK) throw error;
      }
      return results[0] as Awaited<ReturnType<typeof work>>;
    };
  return { store: (store) => altered(store, { write: losing(store) }) };
}

/** A feed whose followers get their batches in another way. */
function following(pass: (onEvents: () => Promise<unknown>) => Promise<unknown>): Bug {
  return {
    services: ({ feed, ...others }) => ({
      ...others,
      ...(feed !== undefined && {
        feed: altered(feed, {
          follow: (options) =>
            feed.follow({
              ...options,
              onEvents: async (events) => void (await pass(async () => options.onEvents(events))),
            }),
        }),
      }),
    }),
  };
}

/** Made only for the bug that is on: some of them count. */
const BUGS: Readonly<Record<SabotageName, () => Bug>> = {
  'lost-commit': lostCommit,

  'asked-twice': () =>
    settling((prompts) => ({
      byKey: async () => undefined,
      async insert(prompt) {
        const { session_id, idempotency_key: key } = prompt;
        const known = key === null ? undefined : await prompts.byKey(session_id, key);
        await prompts.insert(known === undefined ? prompt : { ...prompt, idempotency_key: null });
      },
    })),

  'two-winners': () =>
    settling((prompts) => {
      let isAnswer = false;
      return {
        // An answer first looks for an earlier one with the same id.
        response(response_id) {
          isAnswer = true;
          return prompts.response(response_id);
        },
        async get(ask_id) {
          const prompt = await prompts.get(ask_id);
          return isAnswer && prompt?.status === 'responded' ? { ...prompt, status: 'pending' } : prompt;
        },
        async settle(prompt, now) {
          if (!(await prompts.settle(prompt, now))) await prompts.update(prompt);
          return true;
        },
      };
    }),

  'silence-decides': () =>
    settling((prompts) => ({
      settle: (prompt, now) =>
        prompts.settle(prompt.status === 'expired' ? { ...prompt, decision: 'yes' } : prompt, now),
    })),

  'late-dropped': () =>
    settling((prompts) => ({ update: (prompt) => prompts.update({ ...prompt, late_response: null }) })),

  'false-receipt': () =>
    altering(({ deliveries }) => ({
      deliveries: altered(deliveries, {
        put: (delivery) => deliveries.put({ ...delivery, collected_at: delivery.handed_at }),
      }),
    })),

  'not-delivered': () => ({
    services: ({ delivery, ...others }) => ({
      ...others,
      ...(delivery !== undefined && {
        delivery: altered(delivery, {
          async hand(ask_ids, carrier, reader) {
            const handed = await delivery.hand(ask_ids, carrier, reader);
            return handed.map((one) => ({ ...one, prompt: { ...one.prompt, status: 'pending' as const } }));
          },
        }),
      }),
    }),
  }),

  nobody: () =>
    settling((prompts) => ({
      settle: (prompt, now) =>
        prompts.settle(prompt.status === 'responded' ? { ...prompt, by: null } : prompt, now),
    })),

  'own-answer': () => ({
    services: ({ prompts, ...others }) => ({
      ...others,
      ...(prompts !== undefined && {
        prompts: altered(prompts, {
          respond: ({ actor, ...command }) =>
            prompts.respond({
              ...command,
              actor:
                actor.kind === 'agent' ? { ...actor, session_id: 'somebody else', ancestors: [] } : actor,
            }),
        }),
      }),
    }),
  }),

  'skipped-event': () => {
    const isSkipped = every(10);
    return following(async (pass) => (isSkipped() ? undefined : pass()));
  },

  'repeated-event': () => {
    const isRepeated = every(10);
    return following(async (pass) => {
      await pass();
      if (isRepeated()) await pass();
    });
  },

  'own-call-held': () => ({
    services: ({ hooks, ...others }) => ({
      ...others,
      ...(hooks !== undefined && {
        hooks: altered(hooks, {
          async handle(event, surroundings) {
            const handled = await hooks.handle(event, surroundings);
            return event.name === 'PreToolUse' && event.tool?.own != null
              ? { ...handled, deny: 'Process your mentions with hivemind_process_mentions first.' }
              : handled;
          },
        }),
      }),
    }),
  }),
};

const name = process.env['HIVE_CHAOS_SABOTAGE'] as SabotageName;
const bug = BUGS[name]();

globalThis.SABOTAGE = {
  store: (store) => bug.store?.(store) ?? store,
  services: (services) => ({ ...services, ...bug.services?.(services) }),
};

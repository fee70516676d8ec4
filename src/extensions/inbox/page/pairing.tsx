/** Pairing: the code, the name, the key, the phrase, and the wait until the human confirms it on their computer. */
import { wordlist } from '@scure/bip39/wordlists/english.js';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { cleanCode, pairingText, phraseOf, phraseText } from '../device.ts';
import { makeKey, sha256, sign } from './keys.ts';
import { reconnect, update } from './model.ts';
import { post, Refused, signIn, Unreachable } from './server.ts';
import { type OwnDevice, storage } from './storage.ts';
import { WORDS } from './words.ts';

const ASK_MS = 1_500;

interface Paired {
  device: OwnDevice;
  phrase: string;
}

export function Pairing(): VNode {
  const [paired, setPaired] = useState<Paired | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  if (paired === null) return <CodeForm onPaired={setPaired} refused={refused} />;
  return (
    <Phrase
      {...paired}
      onRefused={(why) => {
        setRefused(why);
        setPaired(null);
      }}
    />
  );
}

/** `refused`: why the device that was just paired is not admitted. */
function CodeForm({
  onPaired,
  refused,
}: {
  onPaired: (paired: Paired) => void;
  refused: string | null;
}): VNode {
  const [code, setCode] = useState(codeInAddress);
  const [name, setName] = useState(() => platformName());
  const [problem, setProblem] = useState<string | null>(isSecureContext ? refused : WORDS.insecure);
  const [busy, setBusy] = useState(false);
  // A browser may open the address of a QR code in the tab that is already here.
  useEffect(() => {
    const moved = (): void => setCode((typed) => codeInAddress() || typed);
    addEventListener('hashchange', moved);
    return () => removeEventListener('hashchange', moved);
  }, []);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      onPaired(await pair(code, name));
    } catch (error) {
      setProblem(
        error instanceof Error && error.name === 'NotSupportedError'
          ? WORDS.noEd25519
          : String((error as Error).message),
      );
    } finally {
      setBusy(false);
    }
  }

  return (
    <main class="card pairing">
      <h1>{WORDS.pairTitle}</h1>
      <p>{WORDS.pairText}</p>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          {WORDS.code}
          <input
            value={code}
            onInput={(event) => setCode(event.currentTarget.value)}
            autocomplete="one-time-code"
            autocapitalize="characters"
            spellcheck={false}
            required
            maxLength={20}
            class="code"
          />
        </label>
        <label>
          {WORDS.deviceName}
          <input
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
            required
            maxLength={60}
          />
        </label>
        <button type="submit" class="primary" disabled={busy}>
          {WORDS.pair}
        </button>
      </form>
      <p role="alert" class="problem">
        {problem}
      </p>
    </main>
  );
}

function codeInAddress(): string {
  return new URLSearchParams(location.hash.slice(1)).get('code') ?? '';
}

/** Registers a new key under this code. @throws Refused, Unreachable, or an error of the browser's cryptography. */
async function pair(typed: string, name: string): Promise<Paired> {
  const code = cleanCode(typed) ?? typed;
  const { key, secret } = await makeKey();
  const proof = await sign(secret, pairingText({ code, key }));
  const { device_id, human, store_id } = await post<{ device_id: string; human: string; store_id: string }>(
    'pair',
    {
      code,
      name,
      key,
      proof,
    },
  );
  const phrase = phraseOf(await sha256(phraseText({ code, key })), wordlist);
  return { device: { device_id, name, human, store_id, key, secret }, phrase };
}

/** Shows the phrase until the human has confirmed it on their computer; then this device is stored. */
function Phrase({ device, phrase, onRefused }: Paired & { onRefused: (why: string) => void }): VNode {
  useEffect(() => {
    let stopped = false;
    async function wait(): Promise<void> {
      while (!stopped) {
        try {
          const welcome = await signIn(device);
          await storage((database) => database.put('device', device, 'own'));
          history.replaceState(null, '', location.pathname);
          void navigator.storage?.persist?.();
          update({ device, welcome });
          reconnect();
          return;
        } catch (error) {
          const isWaiting =
            error instanceof Unreachable ||
            (error instanceof Refused && error.details['state'] === 'unconfirmed');
          if (!isWaiting) return onRefused(error instanceof Error ? error.message : String(error));
        }
        await new Promise((resolve) => setTimeout(resolve, ASK_MS));
      }
    }
    void wait();
    return () => {
      stopped = true;
    };
  }, [device]);
  return (
    <main class="card pairing">
      <h1>{WORDS.pairTitle}</h1>
      <p class="phrase" data-test="phrase">
        {phrase}
      </p>
      <p>{WORDS.comparePhrase}</p>
      <p role="status">{WORDS.waitingForConfirm}</p>
    </main>
  );
}

/** The suggested name of this device. */
function platformName(): string {
  const agent = navigator.userAgent;
  const known = ['iPhone', 'iPad', 'Android', 'Macintosh', 'Windows', 'Linux'].find((name) =>
    agent.includes(name),
  );
  return known === 'Macintosh' ? 'Mac' : (known ?? '');
}

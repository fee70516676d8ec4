/** The page: which screen is shown, how to get to another one, and the state of the connection. */
import { type ComponentType, render, type VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { connect, flush, forget, reconnect, type State, settled, useInbox } from './model.ts';
import { sortWaiting } from './order.ts';
import { PromptScreen } from './prompt.tsx';
import { HistoryScreen, MessagesScreen, ReportsScreen, SessionsScreen } from './screens.tsx';
import { storeTime } from './server.ts';
import { keepShell } from './shell.ts';
import { Boundary } from './text.tsx';
import { WaitingScreen } from './waiting.tsx';
import { WORDS } from './words.ts';

const SCREENS = [
  { path: '', name: WORDS.waiting, icon: 'M4 13h4l2 3h4l2-3h4M4 13l3-8h10l3 8v6H4z', Screen: WaitingScreen },
  {
    path: 'agents',
    name: WORDS.sessions,
    icon: 'M7 9h10v10H7zM12 9V5M10 13v2M14 13v2M4 13v3M20 13v3',
    Screen: SessionsScreen,
  },
  { path: 'messages', name: WORDS.messages, icon: 'M4 5h16v11H10l-4 4v-4H4z', Screen: MessagesScreen },
  { path: 'reports', name: WORDS.reports, icon: 'M6 4h12v16H6zM9 9h6M9 13h6M9 17h3', Screen: ReportsScreen },
  {
    path: 'history',
    name: WORDS.history,
    icon: 'M5 12a7 7 0 1 0 2-5L5 9M5 5v4h4M12 8v4l3 2',
    Screen: HistoryScreen,
  },
] as const;

function App(): VNode {
  const inbox = useInbox();
  const path = usePath();
  useClock();
  if (inbox.device === undefined) return <p role="status">{inbox.refused ?? WORDS.loading}</p>;
  if (inbox.device === null) return <PairingLater />;
  return <Paired inbox={inbox} path={path} />;
}

function Paired({ inbox, path }: { inbox: State; path: string }): VNode {
  const main = useRef<HTMLElement>(null);
  const ask_id = path.startsWith('ask/') ? path.slice('ask/'.length) : null;
  const { Screen } = SCREENS.find((screen) => screen.path === path) ?? SCREENS[0];
  // A new screen begins at its heading, also in a screen reader. A screen may then move to another place.
  useLayoutEffect(() => {
    main.current?.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [path]);
  const { mine } = sortWaiting(inbox.prompts?.values() ?? [], storeTime());
  const waiting = mine.length + inbox.loops.length + inbox.mentions.length;
  useEffect(() => {
    document.title = waiting === 0 ? WORDS.title : `(${waiting}) ${WORDS.title}`;
  }, [waiting]);
  return (
    <>
      <div class={`connection ${inbox.connection}`} role="status">
        {inbox.refused ?? connectionText(inbox)}
        {inbox.unknown ? (
          <button type="button" onClick={() => void forget()}>
            {WORDS.pairAgain}
          </button>
        ) : null}
      </div>
      <main ref={main}>
        {ask_id === null ? (
          <Boundary key={path}>
            <Screen inbox={inbox} />
          </Boundary>
        ) : (
          <>
            <a class="back" href="#/">
              ‹ {WORDS.back}
            </a>
            <PromptScreen key={ask_id} ask_id={ask_id} inbox={inbox} />
          </>
        )}
      </main>
      <nav aria-label={WORDS.title}>
        {SCREENS.map(({ path: to, name, icon }) => (
          <a key={to} href={`#/${to}`} aria-current={to === path ? 'page' : undefined}>
            <svg viewBox="0 0 24 24" aria-hidden="true">
              <path d={icon} />
            </svg>
            <span>{name}</span>
            {to === '' && waiting > 0 ? <span class="count">{waiting}</span> : null}
          </a>
        ))}
      </nav>
    </>
  );
}

function connectionText({ connection, prompts }: State): string {
  const said = WORDS.connection[connection];
  return connection === 'offline' && prompts !== null ? `${said} ${WORDS.canAnswer}` : said;
}

/** Few pages pair a device, and the word list of the phrases is as large as the rest of the page, so it is loaded on demand. */
function PairingLater(): VNode {
  const [Pairing, setPairing] = useState<ComponentType | null>(null);
  useEffect(() => {
    void import('./pairing.tsx').then((module) => setPairing(() => module.Pairing));
  }, []);
  return Pairing === null ? <p role="status">{WORDS.loading}</p> : <Pairing />;
}

function usePath(): string {
  // Until the device is paired, a pairing code may be there, too.
  const read = (): string => (location.hash.startsWith('#/') ? location.hash.slice(2) : '');
  const [path, setPath] = useState(read);
  useEffect(() => {
    const moved = (): void => setPath(read());
    addEventListener('hashchange', moved);
    // It may have changed before this was called.
    moved();
    return () => removeEventListener('hashchange', moved);
  }, []);
  return path;
}

/** Ages are drawn again every half minute, while the page is visible. */
function useClock(): void {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) tick((count) => count + 1);
    }, 30_000);
    return () => clearInterval(timer);
  }, []);
}

addEventListener('online', () => reconnect({ isNewNetwork: true }));
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return;
  reconnect();
  void flush().catch(() => undefined);
});
// Reading the storage of this device takes as long as the first drawing, so both are done at the same time.
void connect();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
// The service worker loads every file once more, so it starts only after the first screen is there.
if ('serviceWorker' in navigator) void settled().then(keepShell);

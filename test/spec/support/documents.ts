/** The documents that Hive was specified from, in the order of docs/internals/specification.md. */
export interface SourceDocument {
  /** The first half of a requirement's number. */
  id: string;
  title: string;
  /** What it is about, for the page. */
  about: string;
  /** How many requirements it has: numbered from 1, none left out. */
  requirements: number;
}

export const DOCUMENTS: readonly SourceDocument[] = [
  {
    id: '000',
    title: 'Mention-Driven Task Interruption',
    about: 'An agent that another one mentions deals with the mention before it goes on.',
    requirements: 43,
  },
  {
    id: '001',
    title: 'ADR-003: Non-Blocking Prompt Forwarding',
    about: 'Agents ask without waiting, the human answers in Emacs, and the answer finds its way back.',
    requirements: 52,
  },
  {
    id: '002',
    title: 'Interrupts: TurnAborted and its reason',
    about:
      'A list of dos and don’ts: an interrupt ends a turn with a reason, and is answered once the turn is over.',
    requirements: 24,
  },
  {
    id: '003',
    title: 'Source Indicators + Bg Fork Stop Guard',
    about:
      'What main, background and fork sessions may send unasked, and the report that a background session owes.',
    requirements: 33,
  },
  {
    id: '004',
    title: 'ADR 008: Buffer Change Detection for Multi-Agent Coordination',
    about:
      'In Japanese: a shared buffer in which several agents write, mention each other and are notified of it.',
    requirements: 47,
  },
  {
    id: 'card',
    title: 'The design card',
    about: 'The one-paragraph summary: the parts, what they are built with and how they talk.',
    requirements: 8,
  },
];

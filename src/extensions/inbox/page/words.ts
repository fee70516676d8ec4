/** Every sentence of the inbox, in one table. */

export const WORDS = {
  title: 'Hive',
  waiting: 'Needs you',
  sessions: 'Agents',
  messages: 'The room',
  /** As in the status buffer of Emacs. */
  sections: { working: 'Working', idle: 'Idle and done', ended: 'Ended' },
  reports: 'Reports',
  history: 'History',
  nothingWaits: 'Nothing needs you.',
  loading: 'Loading…',
  /** A page that was opened without a connection has nothing to show. */
  notYet: 'This is shown as soon as there is a connection.',
  connection: {
    connecting: 'Connecting…',
    online: '',
    offline: 'No connection.',
  },
  canAnswer: 'You can still answer: it is sent as soon as there is one.',
  blocked: 'waiting for you',
  blockedFor: (time: string): string => `Its agent has waited ${time}.`,
  askedAgo: (time: string): string => `${time} ago`,
  expires: (time: string): string => `Expires in ${time}`,
  snoozed: (count: number): string => `Snoozed (${count})`,
  notRead: (count: number): string =>
    count === 1
      ? 'One more is pending, but not on this page. It is loaded once some of these are answered.'
      : `${count} more are pending, but not on this page. They are loaded once some of these are answered.`,
  forOthers: (count: number): string => `For others (${count})`,
  for: (name: string): string => `for ${name}`,
  critical: 'critical',
  permission: 'permission',
  back: 'Back',
  question: 'Question',
  context: 'Context',
  lastWords: 'Its last words',
  table: 'Table',
  notDrawn: 'This could not be shown here. Read it in Emacs.',
  addedByAgent: 'Added by the agent',
  chooseSeveral: 'You can choose several.',
  answer: 'Answer',
  answerThere: 'Answer…',
  ownWords: 'Answer in your own words',
  comment: 'Add a comment',
  send: 'Send',
  unreachable: 'The server cannot be reached now. Try again once there is a connection.',
  queued: (answer: string): string => `Queued: ${answer}. It is sent as soon as the server can be reached.`,
  queuedUnknown: (answer: string): string =>
    `Queued: ${answer}. It is sent once this phone is paired with the same hive again.`,
  queuedShort: 'queued',
  yourAnswers: 'Your answers',
  delayedShort: 'needs one more tap',
  refusedShort: 'not accepted',
  lateShort: 'came late',
  lostShort: 'another answer was first',
  next: 'Next question',
  backToList: 'Back to the list',
  sent: 'Answered.',
  otherHive: 'It was meant for another hive than the one that this phone is paired with now.',
  noStorage:
    'This browser stores nothing for this page, as in a private window, so no answer would be safe here.',
  late: 'It came late: the question had been closed. The agent still gets it, unless its client asked for a permission.',
  lost: (by: string, decision: string): string =>
    `Another answer was first: ${by} answered "${decision}". Yours was kept in the history.`,
  refused: (why: string): string => `It was not accepted. ${why}`,
  delayed:
    'This answer was given a while ago, and it allows something. Read the request again, and tap once more to answer now.',
  answerNow: 'Answer now',
  yourAnswer: (answer: string): string => `Your answer: ${answer}`,
  stuckShort: 'could not be sent',
  stuck: (why: string): string =>
    `It could not be sent: the server failed on it again and again. It is kept on this phone. ${why}`,
  tryAgain: 'Try again',
  discard: 'Discard',
  dismiss: 'Dismiss',
  expired:
    'It expired without an answer. You can still answer; it reaches the agent late, unless its client asked for a permission.',
  cancelled: 'It was cancelled.',
  answered: (by: string, decision: string): string => `Answered by ${by}: ${decision}`,
  inTerminal: 'It waits in the terminal of its agent. Answer it there.',
  readToEnd: 'Read to the end to answer.',
  zoomed: 'Zoom out to answer: all of it has to be on the screen.',
  mayNotAllow:
    'This phone may deny, but not allow. To change that, press a on it in M-x hive-phone-list in Emacs.',
  snooze: 'Snooze',
  snoozeFor: { hour: '1 hour', evening: '4 hours', tomorrow: 'Until tomorrow' },
  unsnooze: 'Un-snooze',
  interrupt: 'Interrupt',
  interruptSure: (title: string): string => `Interrupt ${title}?`,
  interruptNote: 'A note for the agent',
  interrupting: 'Interrupting…',
  cancel: 'Cancel',
  running: 'running',
  doing: (tool: string, time: string): string => `${tool} for ${time}`,
  blockedBy: (question: string): string => `waiting for you: ${question}`,
  said: (words: string): string => `It said: ${words}`,
  noSessions: 'No agent is running.',
  noMessages: 'There are no messages yet.',
  areEarlier: 'There are earlier messages. Search the history for them.',
  mentions: 'Mentions of you',
  mentionsYou: 'mentions you',
  write: 'Write a message to everyone. @Name reaches an agent, @All every agent of every project.',
  writeReply: 'Write a message. @Name reaches an agent.',
  postedShort: 'posted',
  reply: 'Reply',
  replyTo: (handle: string): string => `Replying to ${handle}`,
  markDone: 'Mark done',
  loops: 'Stopped loops',
  loop: (titles: readonly string[], reason: string): string =>
    `${titles.join(' and ')} keep replying to each other (${reason}). Their mentions no longer hold or wake them.`,
  mutedPairs: (count: number): string => `Muted pairs (${count})`,
  mutedPair: (titles: readonly string[]): string =>
    `${titles.join(' and ')} are muted: mentions of each other reach neither.`,
  letContinue: 'Let them continue',
  mutePair: 'Mute this pair',
  writeToThem: 'Write to them',
  noReports: 'There are no reports yet.',
  search: 'Search the history',
  searchNow: 'Search',
  message: 'message',
  noResults: 'Nothing was found.',
  more: 'More',
  pairTitle: 'Pair this phone',
  pairText: 'In Emacs, run M-x hive-phone, or in a shell: hive phone add. Then type the code here.',
  code: 'Pairing code',
  deviceName: 'Name of this phone',
  pair: 'Pair',
  comparePhrase: 'Compare these four words with the ones on your computer, and confirm there.',
  waitingForConfirm: 'Waiting for you to confirm on your computer…',
  pairAgain: 'Pair again',
  insecure:
    'This page has to be opened over https, or on this machine: otherwise the browser offers no keys. See docs/inbox.md.',
  noEd25519: 'This browser is too old: it has no Ed25519 keys.',
  justNow: 'just now',
  notifications: 'Notifications',
  notifyHere: 'Notify me on this phone',
  notified: 'This phone is notified of questions while you are not at your computer.',
  notifyNoMore: 'Stop notifying this phone',
  notifyDenied: 'Notifications of this page are blocked. Allow them in the settings of the browser.',
  notifyUnsupported:
    'This browser offers no notifications here. On an iPhone or iPad, add this page to the home screen and open it from there.',
  notifyFailed: (why: string): string => `Notifications could not be turned on. ${why}`,
  /** Answered, cancelled, expired, snoozed, or read elsewhere. */
  takenBack: 'It no longer needs you.',
  notifyEnded: (why: string): string => `Notifications no longer reach this phone. ${why}`,
  answerQueued: (answer: string): string =>
    `Your answer "${answer}" is kept on this phone. It is sent as soon as the server can be reached.`,
  answerNotKept: (answer: string): string =>
    `Your answer "${answer}" was not kept. Open it and answer there.`,
  answerRefused: (answer: string, why: string): string => `Your answer "${answer}" was not accepted. ${why}`,
} as const;

/** A duration in its shortest form: 40 s, 5 min, 3 h, 2 d. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}

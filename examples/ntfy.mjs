// A notify_command that sends each notification to a topic of ntfy (https://ntfy.sh, or a server of your own), with a link that
// opens the right screen of the inbox. What an agent writes is in it, in clear text: use a server that you trust.
//
//   "notify_command": "NTFY_URL=https://ntfy.example.org NTFY_TOPIC=my-topic INBOX_URL=https://hive.example.org/inbox node /path/to/ntfy.mjs"
import { text } from 'node:stream/consumers';

const { NTFY_URL = 'https://ntfy.sh', NTFY_TOPIC, INBOX_URL, NTFY_TOKEN } = process.env;
const { title, body, urgency, screen } = JSON.parse(await text(process.stdin));
const response = await fetch(NTFY_URL, {
  method: 'POST',
  headers: NTFY_TOKEN === undefined ? {} : { Authorization: `Bearer ${NTFY_TOKEN}` },
  body: JSON.stringify({
    topic: NTFY_TOPIC,
    title,
    message: body,
    priority: urgency === 'critical' ? 5 : 3,
    click: `${INBOX_URL}#/${screen}`,
  }),
});
if (!response.ok) throw new Error(`ntfy answered ${response.status}.`);

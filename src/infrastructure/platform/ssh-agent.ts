/**
 * Signatures by the person's SSH agent (draft-ietf-sshm-ssh-agent), with an Ed25519 key: it signs the text itself, as the
 * key of a seat does. The text begins with `["hive`, so it can never be something that SSH signs for a login or a file.
 */
import { HiveError } from '../../domain/errors.ts';
import { type SeatKey, SSH_KEY_TYPE } from '../../domain/seats.ts';

const SIGN_REQUEST = 13;
const SIGN_RESPONSE = 14;
/** In ms: a person may have to confirm the use of the key, or touch it. */
const PATIENCE_MS = 60_000;
const LONGEST_REPLY = 4_096;

/** The key with this public part in the agent at this socket. Each signature asks the agent. */
export function agentKey(key: string, socket: string | undefined): SeatKey {
  return {
    key,
    async sign(text) {
      if (socket === undefined || socket === '') throw refused('SSH_AUTH_SOCK is not set here');
      const blob = packed(Buffer.from(SSH_KEY_TYPE), Buffer.from(key, 'base64url'));
      const request = Buffer.concat([
        Buffer.from([SIGN_REQUEST]),
        packed(blob, Buffer.from(text)),
        Buffer.alloc(4),
      ]);
      const reply = await ask(socket, packed(request));
      if (reply[0] !== SIGN_RESPONSE) throw refused('it does not have the key, or you did not confirm');
      const [signature] = unpacked(reply.subarray(1));
      const [type, bytes] = unpacked(signature ?? Buffer.alloc(0));
      if (type?.toString() !== SSH_KEY_TYPE || bytes === undefined) throw refused('its reply makes no sense');
      return bytes.toString('base64url');
    },
  };
}

/** Sends one request; resolves with the reply. */
async function ask(socket: string, request: Buffer): Promise<Buffer> {
  const { connect } = process.getBuiltinModule('node:net');
  return new Promise((resolve, reject) => {
    let got = Buffer.alloc(0);
    const connection = connect(socket);
    const timer = setTimeout(() => fail(`it did not answer within ${PATIENCE_MS / 1000} s`), PATIENCE_MS);
    const fail = (why: string): void => {
      clearTimeout(timer);
      connection.destroy();
      reject(refused(why));
    };
    connection.once('error', (error) => fail(error.message));
    connection.once('end', () => fail('it ended the connection'));
    connection.on('data', (chunk) => {
      got = Buffer.concat([got, chunk]);
      if (got.length > LONGEST_REPLY) return fail('its reply is too long');
      const [message] = unpacked(got);
      if (message === undefined) return;
      clearTimeout(timer);
      connection.destroy();
      resolve(message);
    });
    connection.write(request);
  });
}

function refused(why: string): HiveError {
  return new HiveError(
    'not_allowed',
    `Your SSH agent signed nothing (${why}), so nothing was answered. Add the key with ssh-add, or take ssh_agent_key out of trust.json.`,
  );
}

/** The parts, each preceded by its length. */
function packed(...parts: Buffer[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return [length, part];
    }),
  );
}

/** The complete parts at the beginning. */
function unpacked(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let at = 0;
  while (at + 4 <= bytes.length) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    parts.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return parts;
}

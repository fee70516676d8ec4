/** Input about devices: pairing, sessions, and requests from Emacs. */
import { z } from 'zod';
import { PUBLIC_KEY } from '../../domain/seats.ts';
import { characters } from '../../schemas/characters.ts';

const MOST_ID = 100;
const MOST_NAME = 60;
/** An Ed25519 signature: 64 bytes. */
const signature = z.string().regex(/^[A-Za-z0-9_-]{86}$/, 'A signature is 64 bytes in base64url.');
const deviceId = characters(MOST_ID).min(1);

/** `POST /inbox/pair`: `proof` signs the code and the key. */
export const pairParams = z.object({
  code: z.string().max(40),
  name: characters(MOST_NAME).min(1),
  key: z.string().regex(PUBLIC_KEY, 'The public key of a device is 43 characters long.'),
  proof: signature,
});

/** `POST /inbox/challenge`. */
export const deviceParams = z.object({ device_id: deviceId });

/** `POST /inbox/session`. */
export const sessionParams = z.object({ device_id: deviceId, challenge: z.string().max(100), signature });

/** `POST /inbox/call`. */
export const callParams = z.object({
  method: z.string().max(100),
  params: z.record(z.string(), z.unknown()).optional(),
});

/** `POST /inbox/push`: where notifications go, in the browser's format; null for nowhere. */
export const pushParams = z.object({
  subscription: z
    .object({
      endpoint: z.string().min(1).max(1_000),
      keys: z.object({
        p256dh: z
          .string()
          .regex(/^B[A-Za-z0-9_-]{86}$/, 'The key of a subscription is 65 bytes in base64url.'),
        auth: z
          .string()
          .regex(/^[A-Za-z0-9_-]{22}$/, 'The secret of a subscription is 16 bytes in base64url.'),
      }),
    })
    .nullable(),
});

// ---- From Emacs ----

/** `phone/invite`: where the inbox is, if this machine does not serve it. */
export const inviteParams = z.object({ url: z.string().min(1).max(2_000).optional() });
/** `phone/confirm`: the device, and the key from which the phrase was made that its human has compared. */
export const confirmParams = z.object({
  device_id: deviceId,
  key: z.string().regex(PUBLIC_KEY, 'The public key of a device is 43 characters long.'),
});
/** `phone/paired`: the code that was shown. */
export const pairedParams = z.object({ code: z.string().min(1).max(40) });

/** Keys and digests, with the browser's own cryptography. A key cannot be read out, not even by this page. */

/** A new key, and its public part in the server's format: 32 bytes, base64url. */
export async function makeKey(): Promise<{ key: string; secret: CryptoKey }> {
  const pair = (await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify'])) as CryptoKeyPair;
  const raw = await crypto.subtle.exportKey('raw', pair.publicKey);
  return { key: base64url(new Uint8Array(raw)), secret: pair.privateKey };
}

export async function sign(secret: CryptoKey, text: string): Promise<string> {
  const signature = await crypto.subtle.sign('Ed25519', secret, new TextEncoder().encode(text));
  return base64url(new Uint8Array(signature));
}

export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** An id of 80 random bits, as the server makes them. */
export function randomId(prefix: string): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `${prefix}-${Array.from(bytes, (byte) => alphabet[byte % 32]).join('')}`;
}

function base64url(bytes: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

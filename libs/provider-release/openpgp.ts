import type { signDetached as sign } from './sign-detached.js';
import type { readPublicKey as read } from './signing-key.js';
import type { verifyDetached as verify } from './verify-detached.js';

/*
 * What is done with OpenPGP.js. It takes 12 MB, and most processes never see a key: it is loaded by the first that does.
 */

export const readPublicKey: typeof read = async (armor, now) =>
  (await import('./signing-key.js')).readPublicKey(armor, now);

export const signDetached: typeof sign = async (wanted) => (await import('./sign-detached.js')).signDetached(wanted);

export const verifyDetached: typeof verify = async (signed) =>
  (await import('./verify-detached.js')).verifyDetached(signed);

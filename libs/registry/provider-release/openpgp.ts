import type { signDetached as sign } from './sign-detached.js';
import type { checkRenewal as check, readAcceptedKey as readAccepted, readPublicKey as read } from './signing-key.js';
import type { verifyDetached as verify } from './verify-detached.js';

/** Loads OpenPGP.js on first use, because it takes 12 MB and most processes never read a key. */

export const readPublicKey: typeof read = async (armor, now) =>
  (await import('./signing-key.js')).readPublicKey(armor, now);

export const readAcceptedKey: typeof readAccepted = async (armor) =>
  (await import('./signing-key.js')).readAcceptedKey(armor);

export const checkRenewal: typeof check = async (present, renewed) =>
  (await import('./signing-key.js')).checkRenewal(present, renewed);

export const signDetached: typeof sign = async (input) => (await import('./sign-detached.js')).signDetached(input);

export const verifyDetached: typeof verify = async (signed) =>
  (await import('./verify-detached.js')).verifyDetached(signed);

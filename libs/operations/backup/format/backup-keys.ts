import { hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { FORMAT_VERSION, type BackupHeader } from './backup-manifest.js';

const KEY_LENGTH = 32;
const SALT_LENGTH = 32;
const CHECK_LENGTH = 8;

const derive = (key: Buffer, { id, salt }: Pick<BackupHeader, 'id' | 'salt'>, purpose: string, length: number) =>
  Buffer.from(hkdfSync('sha256', key, Buffer.from(salt, 'base64'), `cadastre backup ${purpose} ${id}`, length));

/** Returns the key of this backup. Files of one backup can therefore not be used in another one. */
export const deriveBackupKey = (key: Buffer, header: Pick<BackupHeader, 'id' | 'salt'>): Buffer =>
  derive(key, header, 'key 1', KEY_LENGTH);

/** Returns a text that distinguishes a wrong key from damage, and reveals nothing about the key. */
export const computeKeyCheck = (key: Buffer, header: Pick<BackupHeader, 'id' | 'salt'>): string =>
  derive(key, header, 'key check 1', CHECK_LENGTH).toString('hex');

export const createHeader = (key: Buffer, format: BackupHeader['format']): BackupHeader => {
  const identity = { id: randomUUID(), salt: randomBytes(SALT_LENGTH).toString('base64') };
  return { format, version: FORMAT_VERSION, ...identity, keyCheck: computeKeyCheck(key, identity) };
};

/** Parses the 32 bytes of a key in base64. Returns null for anything else. */
export const parseBackupKey = (text: string): Buffer | null => {
  const key = Buffer.from(text.trim(), 'base64');
  return key.length === KEY_LENGTH && key.toString('base64') === text.trim() ? key : null;
};

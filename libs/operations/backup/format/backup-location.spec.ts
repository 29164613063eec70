import { describe, expect, it } from '@jest/globals';
import { resolve } from 'node:path';
import { parseBackupLocation } from './backup-location.js';

describe('parseBackupLocation', () => {
  it.each([
    ['s3://backups', { kind: 's3', bucket: 'backups', prefix: '' }],
    ['s3://backups/', { kind: 's3', bucket: 'backups', prefix: '' }],
    ['s3://backups/site/2026-11-24/', { kind: 's3', bucket: 'backups', prefix: 'site/2026-11-24' }],
    ['/var/backups/today', { kind: 'folder', folder: '/var/backups/today' }],
    ['today', { kind: 'folder', folder: resolve('today') }],
  ])('parses %s', (text, location) => {
    expect(parseBackupLocation(text)).toEqual(location);
  });

  it.each([
    '',
    's3://',
    's3://x',
    's3://backups/../site',
    's3://backups//site',
    's3:/backups',
    's3:backups',
    'https://example.com/x',
    'file:/var/backups',
  ])('refuses "%s"', (text) => {
    expect(parseBackupLocation(text)).toBeNull();
  });
});

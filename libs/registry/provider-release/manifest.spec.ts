import { describe, expect, it } from '@jest/globals';
import { readManifest } from './index.js';

const manifest = (versions: unknown, version: unknown = 1): string =>
  JSON.stringify({ version, metadata: { protocol_versions: versions } });

describe('the manifest of a release', () => {
  it.each([
    [['5.0'], ['5.0']],
    [
      ['6.0', '5.0'],
      ['5.0', '6.0'],
    ],
    [['5.1', '5.0'], ['5.0']],
    [['6'], ['6.0']],
  ])('lists the versions %j as the protocols %j', (versions, protocols) => {
    expect(readManifest(manifest(versions))).toEqual(protocols);
  });

  it.each(['3.0', '7.0', '5.x', '', '50', 'five'])('is rejected with the protocol %j', (protocol) => {
    expect(() => readManifest(manifest([protocol]))).toThrow(
      `The manifest names the protocol ${protocol}, which must be one of 4.0, 5.0, 6.0`,
    );
  });

  it.each([
    manifest([]),
    manifest('5.0'),
    manifest([5]),
    manifest(['5.0'], 2),
    manifest(['5.0'], '1'),
    '[]',
    'null',
    '{}',
  ])('is rejected if it is %s', (text) => {
    expect(() => readManifest(text)).toThrow('The manifest is not like {"version":1,"metadata":');
  });

  it('is rejected if it is not JSON', () => {
    expect(() => readManifest('version: 1')).toThrow('The manifest is not JSON');
  });
});

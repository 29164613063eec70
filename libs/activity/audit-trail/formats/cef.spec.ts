import { describe, expect, it } from '@jest/globals';
import { INSTALL_PYTHON_TIMEOUT_MS } from '../../../../test/support/python.js';
import { parseCef } from '../../../../test/support/siem/index.js';
import { createEntryOf } from '../spec.js';
import { renderCef } from './cef.js';

/** Removes the escapes of a value, which the parser leaves in. */
const unescape = (value: string | undefined): string | undefined =>
  value?.replace(/\\(.)/g, (_, character: string) => ({ n: '\n', r: '\r' })[character] ?? character);

const HOSTILE = [
  'a|b',
  'a=b',
  'a\\',
  'a\\=b',
  'a\\nb',
  'line\nCEF:0|Other|Other|1|x|x|9|suser=root',
  'cr\r\nlf',
  'x suser=root act=forged',
  '= = =',
  '|||||||',
  'Zoë 🙂 \u202e',
];

describe('an entry as a line of CEF', () => {
  it(
    'has the fields of the entry',
    async () => {
      const line = renderCef(createEntryOf('workspace', 'force_unlock', { reason: 'stuck' }), '1.2.3');
      expect(await parseCef(`${line}\n`)).toEqual([
        {
          CEFVersion: '0',
          DeviceVendor: 'Cadastre',
          DeviceProduct: 'Cadastre',
          DeviceVersion: '1.2.3',
          DeviceEventClassID: 'workspace.force_unlock',
          Name: 'workspace force unlock',
          DeviceName: 'workspace force unlock',
          Severity: '6',
          DeviceSeverity: '6',
          rt: String(Date.parse('2026-11-01T12:00:00.001Z')),
          externalId: '0d7a1a52-3d1e-4f3b-9a54-6b1f2c3d4e5f',
          act: 'force_unlock',
          outcome: 'success',
          suid: 'user-1',
          suser: 'ada',
          src: '192.0.2.7',
          requestClientApplication: 'Terraform/1.13.0',
          reason: 'stuck',
          organization: 'org-1',
          resourceType: 'workspace',
          resourceId: 'ws-1',
          requestId: 'request-1',
          msg: '{"reason":"stuck"}',
        },
      ]);
    },
    INSTALL_PYTHON_TIMEOUT_MS,
  );

  it('is one line, in which hostile values stay in their field', async () => {
    const entries = HOSTILE.map((value) => createEntryOf('workspace', 'lock', { reason: value }, {}, value));
    const lines = entries.map((entry) => `${renderCef(entry, '1.2.3')}\n`).join('');
    expect(lines.split('\n')).toHaveLength(HOSTILE.length + 1);
    const parsed = await parseCef(lines);
    expect(
      parsed.map((fields) => ({
        suser: unescape(fields?.['suser']),
        reason: unescape(fields?.['reason']),
        act: fields?.['act'],
        msg: JSON.parse(unescape(fields?.['msg']) ?? '') as unknown,
      })),
    ).toEqual(HOSTILE.map((value) => ({ suser: value, reason: value, act: 'lock', msg: { reason: value } })));
  });

  it('has no control characters and no other ends of lines', () => {
    const line = renderCef(createEntryOf('workspace', 'lock', null, {}, 'a\u0000b\u001bc\u2028d\u0085e\u007ff'), '1');
    expect(line).toContain(' suser=a b c\\nd e f ');
  });

  it('says that a refused sign-in failed', () => {
    const line = renderCef(createEntryOf('sign_in', 'refuse', { reason: 'wrong_code', user_id: 'user-2' }), '1');
    expect(line).toMatch(/\|sign_in\.refuse\|sign in refuse\|6\|.* outcome=failure .* duid=user-2 reason=wrong_code /);
  });
});

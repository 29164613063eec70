import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MaskedLines } from './masked-lines.js';
import { listSecretsOfHcl } from './secret-forms.js';
import { MASK, SecretMasker } from './secret-masker.js';

const mask = (secrets: readonly string[], chunks: readonly Buffer[], maxLineLength?: number): string => {
  let output = '';
  const write = (text: string): void => void (output += text);
  const lines = new MaskedLines({
    masker: new SecretMasker(secrets),
    write,
    ...(maxLineLength ? { maxLineLength } : {}),
  });
  for (const chunk of chunks) lines.push(chunk);
  lines.end();
  return output;
};

/** Cuts bytes at these positions. */
const cut = (bytes: Buffer, positions: readonly number[]): readonly Buffer[] => {
  const sorted = [...positions, bytes.length]
    .map((position) => position % (bytes.length + 1))
    .toSorted((a, b) => a - b);
  return [0, ...sorted].map((start, index) => bytes.subarray(start, sorted[index] ?? bytes.length));
};

// Longer than each structure name that a masked line keeps, and than the mask.
const secretText = fc.string({ minLength: 8, maxLength: 60, unit: 'binary' }).filter((text) => text.trim().length >= 8);
const safeText = fc.string({ maxLength: 40 });
const positions = fc.array(fc.nat(), { maxLength: 6 });

const listStrings = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [key, ...listStrings(member)]);
};

describe('a secret', () => {
  it('does not occur in plain output, wherever chunks begin and end', () => {
    fc.assert(
      fc.property(
        secretText.filter((text) => !/[\n\r]/.test(text)),
        fc.array(safeText),
        positions,
        (secret, around, cuts) => {
          const output = around.join(secret) + secret;
          expect(mask([secret], cut(Buffer.from(output), cuts))).not.toContain(secret.toWellFormed());
        },
      ),
    );
  });

  it('leaves no character of its base64 visible, whatever is before and after it', () => {
    const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z]{4,700}$/),
        bytes(4),
        bytes(4),
        fc.constantFrom('base64', 'base64url'),
        (secret, before, after, encoding) => {
          const encoded = Buffer.concat([before, Buffer.from(secret), after]).toString(encoding as BufferEncoding);
          const masked = mask([secret], [Buffer.from(encoded)]);
          const [left = '', ...rest] = masked.split(MASK);
          const right = rest.at(-1) ?? '';
          // A character has six bits.
          expect(left.length).toBeLessThanOrEqual(Math.floor((before.length * 8) / 6));
          expect(encoded.length - right.length).toBeGreaterThanOrEqual(
            Math.ceil(((before.length + secret.length) * 8) / 6),
          );
          expect(rest).toHaveLength(1);
        },
      ),
    );
  });

  it('does not occur in JSON output, which stays valid', () => {
    fc.assert(
      fc.property(secretText, fc.json(), safeText, positions, (secret, json, around, cuts) => {
        const line = JSON.stringify({
          type: 'planned_change',
          '@message': around + secret,
          nested: [JSON.parse(json), { [`${around}-${secret}`]: `${secret}${around}` }],
        });
        const [masked = '', rest] = mask([secret], cut(Buffer.from(`${line}\n`), cuts)).split('\n');
        const parsed = JSON.parse(masked) as { readonly type: unknown };
        expect(rest).toBe('');
        expect(parsed.type).toBe('planned_change');
        for (const text of listStrings(parsed)) expect(text).not.toContain(secret);
      }),
    );
  });

  it('does not occur in base64 of a text around it', () => {
    fc.assert(
      fc.property(secretText, safeText, safeText, (secret, before, after) => {
        const encoded = Buffer.from(before + secret.toWellFormed() + after).toString('base64');
        const masked = mask([secret.toWellFormed()], [Buffer.from(encoded)]);
        expect(masked).toContain(MASK);
        expect(masked.length).toBeLessThan(encoded.length);
      }),
    );
  });

  it('does not occur in a line that is passed on in parts', () => {
    fc.assert(
      fc.property(
        secretText.filter((text) => !/[\n\r]/.test(text)),
        fc.nat(300),
        positions,
        (secret, length, cuts) => {
          const output = `${'.'.repeat(length)}${secret}${'.'.repeat(length)}${secret}`;
          expect(mask([secret], cut(Buffer.from(output), cuts), 100)).not.toContain(secret.toWellFormed());
        },
      ),
    );
  });
});

describe('masking', () => {
  it.each([
    ['a quoted value', 'p"a${ss', 'value = "p\\"a$${ss"', 'value = "***"'],
    [
      'HTML characters as Go escapes them',
      'a<b>&c',
      String.raw`{"@message":"a\u003cb\u003e\u0026c"}`,
      '{"@message":"***"}',
    ],
    ['a part of a URL', 'p@ss/word', 'https://user:p%40ss%2Fword@host', 'https://user:***@host'],
    ['a number in JSON', '12345678', '{"pin":12345678,"count":1}', '{"pin":"***","count":1}'],
    ['JSON in JSON', 'p"ss', String.raw`{"policy":"{\"x\":\"p\\\"ss\"}"}`, String.raw`{"policy":"{\"x\":\"***\"}"}`],
    ['the longer one of two secrets', 'swordfish', 'swordfish-2', '***'],
  ])('replaces %s', (name, secret, line, expected) => {
    const secrets = name.startsWith('the longer') ? [secret, 'swordfish-2'] : [secret];
    expect(new SecretMasker(secrets).maskLine(line)).toBe(expected);
  });

  it('keeps names of the format of terraform, even if a secret is such a name', () => {
    const line = '{"@level":"info","@message":"level of change","type":"change_summary"}';
    expect(new SecretMasker(['change', 'level']).maskLine(line)).toBe(
      '{"@level":"info","@message":"*** of ***","type":"change_summary"}',
    );
  });

  it('keeps output in which very short secrets occur', () => {
    expect(new SecretMasker(['a', '123', '']).maskLine('banana 123')).toBe('banana 123');
  });

  it('replaces each long line of a key by itself', () => {
    const key = '-----BEGIN KEY-----\nabcdefghijkl\n}\n-----END KEY-----\n';
    expect(mask([key], [Buffer.from(`  + ${key.replaceAll('\n', '\n    ')}`)])).toBe(
      '  + ***\n    ***\n    }\n    ***\n    ',
    );
  });

  it('replaces the strings of a value in the configuration language', () => {
    const secrets = listSecretsOfHcl('{ user = "adminadmin", password = "swo\\"rd" }');
    expect(new SecretMasker(secrets).maskLine('adminadmin has swo"rd')).toBe('*** has ***');
  });

  it('replaces values of 256 KiB, also in a line that is passed on in parts', () => {
    const secrets = Array.from({ length: 20 }, (_, index) => `${index}-`.repeat(90_000).slice(0, 256 * 1024));
    const line = `${secrets[7]} and ${JSON.stringify(secrets[8])}`;
    expect(mask(secrets, cut(Buffer.from(line), [100, 200_000]))).toBe('*** and "***"');
    expect(mask(secrets, cut(Buffer.from(line), [100, 300_000]), 300_000)).toBe('*** and "***"');
  });

  it('passes on a line when it is complete', () => {
    const lines: string[] = [];
    const masked = new MaskedLines({ masker: new SecretMasker(['secret']), write: (text) => void lines.push(text) });
    masked.push(Buffer.from('one\ntw'));
    expect(lines).toEqual(['one\n']);
    masked.push(Buffer.from('o\n'));
    expect(lines).toEqual(['one\n', 'two\n']);
  });
});

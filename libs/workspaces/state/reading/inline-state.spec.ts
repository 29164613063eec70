import { describe, expect, it } from '@jest/globals';
import { Refusal } from '#platform/kernel';
import { splitCreateRequest } from './inline-state.js';

const LIMIT = 1024 * 1024;
const split = (body: string) => splitCreateRequest(Buffer.from(body), LIMIT);
const withAttributes = (attributes: object): string => JSON.stringify({ data: { type: 'state-versions', attributes } });
const encoded = (text: string): string => Buffer.from(text).toString('base64');

const refusal = (body: Buffer): Refusal => {
  try {
    splitCreateRequest(body, LIMIT);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('it was not refused');
};

describe('splitting the body of a creation', () => {
  it('returns its files and a small rest', () => {
    const attributes = { serial: 1, 'json-state': encoded('{"j":1}'), state: encoded('{"s":1}'), md5: 'm' };
    const { document, state, jsonState } = split(withAttributes(attributes));
    expect([state?.toString(), jsonState?.toString()]).toEqual(['{"s":1}', '{"j":1}']);
    expect(JSON.parse(document)).toEqual({
      data: { type: 'state-versions', attributes: { serial: 1, 'json-state': '', state: '', md5: 'm' } },
    });
  });

  it('uses the last of two members with the same name, as a parser does', () => {
    const { state } = split(`{"data":{"attributes":{"state":"${encoded('a')}","state":"${encoded('b')}"}}}`);
    expect(state?.toString()).toBe('b');
  });

  it.each([
    ['no Base64', '§'],
    ['a length that Base64 has not', 'abc'],
    ['padding within', 'YQ==YQ=='],
  ])('leaves a stub that validation refuses if a file is or has %s', (_, state) => {
    const { document, state: file } = split(withAttributes({ state }));
    expect([file, JSON.parse(document).data.attributes.state]).toEqual([null, '!']);
  });

  it.each([[null], [7], [['a']], [{ a: 1 }], [true]])('leaves %j for validation if it is not a file', (state) => {
    const { document, state: file } = split(withAttributes({ state }));
    expect([file, JSON.parse(document).data.attributes.state]).toEqual([null, state]);
  });

  it('returns an empty state as a file, and no file for an empty JSON form', () => {
    const { state, jsonState } = split(withAttributes({ state: '', 'json-state': '' }));
    expect([state?.length, jsonState]).toEqual([0, null]);
  });

  it.each(['[]', '7', '{}', '{"data":[]}', '{"data":{"attributes":7}}'])(
    'leaves other bodies unchanged for validation: %s',
    (body) => {
      expect(split(body)).toEqual({ document: body, state: null, jsonState: null });
    },
  );

  it('returns an object for an empty body', () => {
    expect(split('').document).toBe('{}');
  });

  it.each([
    ['not JSON', Buffer.from('{"data":'), 'bad-request', /not valid JSON/],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'bad-request', /not valid JSON/],
    ['ten megabytes of brackets', Buffer.alloc(10_000_000, '['), 'bad-request', /nested deeper than 100/],
    ['large without a state', Buffer.from(withAttributes({ more: 'x'.repeat(70_000) })), 'too-large', /64 KiB/],
    [
      'with a state above the limit',
      Buffer.from(withAttributes({ state: encoded('x'.repeat(LIMIT + 1)) })),
      'too-large',
      /1 MiB.*hosted-state-upload-url/,
    ],
  ])('refuses a body that is %s', (_, body, kind, detail) => {
    const refused = refusal(body);
    expect([refused.kind, refused.message]).toEqual([kind, expect.stringMatching(detail)]);
  });
});

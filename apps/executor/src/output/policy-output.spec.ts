import { describe, expect, it } from '@jest/globals';
import { hasSyntaxError, readPolicyOutcome, restrictCapabilities } from './policy-output.js';
import { maskBeginning } from './policy-text.js';
import { SecretMasker } from './secret-masker.js';
import { listSensitiveValues } from './sensitive-values.js';

const QUERY = 'data.rules.deny';
const printValues = (...values: readonly unknown[]): string =>
  JSON.stringify({ result: values.map((value) => ({ expressions: [{ value, text: QUERY }] })) });
const read = (output: string) => readPolicyOutcome(output, QUERY);

describe('the output of OPA', () => {
  it('passes only with one empty list', () => {
    expect(read(printValues([]))).toEqual({ status: 'passed', message: '' });
    expect(read(printValues(['a bucket is public']))).toEqual({
      status: 'failed',
      message: '["a bucket is public"]',
    });
  });

  it.each([
    ['{}', 'has no result'],
    ['{"result":[]}', 'has no result'],
    ['', 'OPA has printed no result'],
    ['{"result":[', 'OPA has printed no result'],
    [printValues(true), 'must have one list'],
    [printValues({}), 'must have one list'],
    [printValues([], []), 'must have one list'],
    ['{"errors":[{"message":"undefined function http.send","code":"rego_type_error"}]}', 'undefined function'],
  ])('is an error and no pass if it is %s', (output, message) => {
    expect(read(output)).toMatchObject({ status: 'errored', message: expect.stringContaining(message) });
  });

  it('distinguishes errors of the syntax from others', () => {
    expect(hasSyntaxError('{"errors":[{"message":"x","code":"rego_parse_error"}]}')).toBe(true);
    expect(hasSyntaxError('{"errors":[{"message":"x","code":"rego_type_error"}]}')).toBe(false);
    expect(hasSyntaxError('')).toBe(false);
  });
});

it('removes functions that reach the network or the machine', () => {
  const builtins = [
    { name: 'count' },
    { name: 'http.send', nondeterministic: true },
    { name: 'opa.runtime' },
    { name: 'net.lookup_ip_addr' },
    { name: 'time.now_ns', nondeterministic: true },
    { name: 'later.network_function', nondeterministic: true },
  ];
  const restricted = JSON.parse(
    restrictCapabilities(JSON.stringify({ builtins, features: ['rego_v1'] })) ?? '',
  ) as object;
  expect(restricted).toEqual({
    builtins: [builtins[0], builtins[4]],
    features: ['rego_v1'],
    allow_net: [],
  });
});

it.each(['', 'Error: unknown command', '{}'])('has no capabilities of an OPA that prints %j', (printed) => {
  expect(restrictCapabilities(printed)).toBeNull();
});

it('lists what a plan marks as sensitive', () => {
  const plan = {
    resource_changes: [
      {
        change: {
          before: null,
          after: { name: 'public', password: 'hunter22', nested: { pin: 123_456, tags: ['open', 'closed'] } },
          before_sensitive: false,
          after_sensitive: { password: true, nested: { pin: true, tags: [false, true] } },
        },
      },
    ],
    planned_values: { outputs: { token: { sensitive: true, value: { key: 'secret-key', short: 'abc' } } } },
    variables: { region: { value: 'eu-west-1' }, login: { value: { user: 'admin-of-all', pin: null } } },
    configuration: {
      root_module: {
        variables: {
          region: {},
          login: { sensitive: true, default: { user: 'default-user' } },
          gone: { sensitive: true },
        },
        module_calls: { child: { module: { variables: { key: { sensitive: true, default: 'inner-key' } } } } },
      },
    },
  };
  expect([...(listSensitiveValues(plan) ?? [])].toSorted()).toEqual([
    '123456',
    'admin-of-all',
    'closed',
    'default-user',
    'hunter22',
    'inner-key',
    'secret-key',
  ]);
});

it.each([
  ['one is too long', ['x'.repeat(20_000_000)]],
  ['they are too long together', Array.from({ length: 1_000 }, (_, n) => `${n}${'x'.repeat(300)}`)],
  ['they are too many', Array.from({ length: 2_001 }, (_, n) => `value-${n}`)],
])('lists no sensitive values if %s', (_, value) => {
  expect(listSensitiveValues({ planned_values: { outputs: { token: { sensitive: true, value } } } })).toBeNull();
});

describe('the text of a policy in a report', () => {
  const show = (text: string, ...secrets: readonly string[]) => maskBeginning(text, 20, [new SecretMasker(secrets)]);

  it('has no secret, not even a part of one at its end', () => {
    expect(show('the key is hunter22', 'hunter22')).toBe('the key is ***');
    const secret = 'correct-horse-battery-staple';
    for (let length = 0; length < 100; length += 1) {
      const text = show(`${'x'.repeat(length)}${secret}${'y'.repeat(200)}`, secret);
      expect(text).not.toContain('corr');
      expect(text.length).toBeLessThanOrEqual(20);
    }
    const many = show(`${secret.repeat(9)}`, secret);
    expect(many).toMatch(/^(?:\*\*\*)*…$/);
  });

  it('has no character that the server does not store', () => {
    expect(show('a\0b\u001bc\n\td')).toBe('a\u{fffd}b\u{fffd}c\n\td');
    const cut = show(`${'x'.repeat(18)}😀😀`);
    expect(cut.isWellFormed()).toBe(true);
    expect(cut).toHaveLength(20);
  });
});

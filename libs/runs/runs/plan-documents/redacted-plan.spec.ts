import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { buildRedactedPlan, redactChange, UnusablePlanError } from './redacted-plan.js';

const SCHEMA = { version: 0, block: { attributes: { password: { type: 'string', sensitive: true } } } };

const SCHEMAS = {
  format_version: '1.0',
  provider_schemas: {
    'example.org/acme/cloud': {
      provider: SCHEMA,
      resource_schemas: { cloud_host: SCHEMA, cloud_other: SCHEMA },
      data_source_schemas: { cloud_image: SCHEMA },
    },
    'example.org/acme/unused': { resource_schemas: { unused_thing: SCHEMA } },
  },
};

const resourceOf = (change: object, members: object = {}): object => ({
  address: 'cloud_host.one',
  mode: 'managed',
  type: 'cloud_host',
  name: 'one',
  provider_name: 'example.org/acme/cloud',
  change: { actions: ['create'], before: null, after_unknown: {}, before_sensitive: false, ...change },
  ...members,
});

const planOf = (members: object): Record<string, unknown> => ({
  format_version: '1.2',
  terraform_version: '1.11.4',
  variables: { secret: { value: 'hush' } },
  planned_values: { root_module: { resources: [{ values: { password: 'hush' } }] } },
  prior_state: { values: { outputs: { out: { value: 'hush' } } } },
  configuration: { root_module: { variables: { secret: { default: 'hush' } } } },
  ...members,
});

describe('the redacted plan', () => {
  it('has the changes and the schemas that they use, and no values outside the changes', () => {
    const change = { after: { name: 'a', password: 'hush' }, after_sensitive: { password: true } };
    const redacted = buildRedactedPlan(
      planOf({
        resource_changes: [resourceOf(change, { secret_of_a_later_version: 'hush' })],
        relevant_attributes: [{ resource: 'cloud_host.one', attribute: ['name'] }],
        output_changes: { out: { actions: ['create'], before: null, after: 'hush', after_sensitive: true } },
        a_later_member: 'hush',
      }),
      SCHEMAS,
    );
    expect(redacted).toMatchObject({
      plan_format_version: '1.2',
      provider_format_version: '1.0',
      provider_schemas: { 'example.org/acme/cloud': { resource_schemas: { cloud_host: SCHEMA } } },
      resource_changes: [
        {
          address: 'cloud_host.one',
          change: { after: { name: 'a', password: expect.any(String) }, after_sensitive: { password: true } },
        },
      ],
      resource_drift: [],
      relevant_attributes: [{ resource: 'cloud_host.one', attribute: ['name'] }],
      output_changes: { out: { actions: ['create'], before: null, after_sensitive: true } },
      deferred_changes: [],
      action_invocations: [],
    });
    expect(Object.keys(redacted['provider_schemas'] as object)).toEqual(['example.org/acme/cloud']);
    expect(JSON.stringify(redacted)).not.toContain('hush');
    expect(JSON.stringify(redacted)).not.toContain('cloud_other');
  });

  it('redacts drift, deferred changes and actions', () => {
    const change = {
      before: { password: 'hush' },
      before_sensitive: { password: true },
      after: null,
      after_sensitive: false,
    };
    const redacted = buildRedactedPlan(
      planOf({
        resource_drift: [resourceOf(change)],
        deferred_changes: [{ reason: 'instance_count_unknown', resource_change: resourceOf(change) }],
        action_invocations: [
          {
            address: 'action.cloud_reboot.one',
            type: 'cloud_reboot',
            provider_name: 'example.org/acme/cloud',
            config_values: { token: 'hush', delay: 5 },
            config_sensitive: { token: true },
          },
        ],
      }),
      {
        ...SCHEMAS,
        provider_schemas: {
          'example.org/acme/cloud': {
            ...SCHEMAS.provider_schemas['example.org/acme/cloud'],
            action_schemas: { cloud_reboot: SCHEMA },
          },
        },
      },
    );
    expect(JSON.stringify(redacted)).not.toContain('hush');
    expect(redacted).toMatchObject({
      deferred_changes: [{ reason: 'instance_count_unknown', resource_change: { change: { after: null } } }],
      action_invocations: [{ config_values: { delay: 5 } }],
    });
  });

  it('changes no prototype if a provider is named `__proto__`', () => {
    const provider = { resource_schemas: { cloud_host: SCHEMA } };
    const text = JSON.stringify({ ...SCHEMAS, provider_schemas: { proto: provider } }).replace(
      '"proto"',
      '"__proto__"',
    );
    const schemas = JSON.parse(text) as typeof SCHEMAS;
    const plan = planOf({ resource_changes: [resourceOf({}, { provider_name: '__proto__' })] });
    const redacted = buildRedactedPlan(plan, schemas);
    expect('resource_schemas' in {}).toBe(false);
    expect(JSON.stringify(redacted['provider_schemas'])).toBe(`{"__proto__":${JSON.stringify(provider)}}`);
  });

  it.each([
    [
      'the schema of a type',
      planOf({ resource_changes: [resourceOf({}, { type: 'cloud_absent' })] }),
      SCHEMAS,
      'cloud_absent',
    ],
    ['the provider', planOf({ resource_changes: [resourceOf({}, { provider_name: 'x' })] }), SCHEMAS, 'provider x'],
    ['the mode', planOf({ resource_changes: [resourceOf({}, { mode: 'data' })] }), SCHEMAS, 'data_source_schemas'],
    ['the version of the plan', { resource_changes: [] }, SCHEMAS, 'json-output has no format_version'],
    ['the version of the schemas', planOf({}), {}, 'json-schema has no format_version'],
  ])('is refused without %s', (_, plan, schemas, message) => {
    expect(() => buildRedactedPlan(plan, schemas)).toThrow(UnusablePlanError);
    expect(() => buildRedactedPlan(plan, schemas)).toThrow(message);
  });
});

describe('a redacted change', () => {
  it('shows whether a sensitive value changes, and not which value it has', () => {
    const marks = { before_sensitive: { a: true, b: true, c: true }, after_sensitive: { a: true, b: true, c: true } };
    const { before, after } = redactChange({
      ...marks,
      before: { a: 1, b: [1], c: null },
      after: { a: 2, b: [1], c: 'x' },
    });
    const [was, is] = [before, after] as readonly Record<string, unknown>[];
    expect(was?.['a']).not.toEqual(is?.['a']);
    expect(was?.['b']).toEqual(is?.['b']);
    expect(was?.['c']).toBeNull();
    expect(typeof is?.['c']).toBe('string');
  });

  it('hides a value on both sides if it is sensitive on one', () => {
    const change = redactChange({
      before: { a: 'hush' },
      after: { a: 'hush' },
      before_sensitive: {},
      after_sensitive: { a: true },
    });
    expect(JSON.stringify(change)).not.toContain('hush');
  });

  it('hides the keys of a sensitive map that is partly unknown', () => {
    const change = redactChange({
      after: {},
      after_unknown: { tags: { hush: true } },
      after_sensitive: { tags: true },
    });
    expect(change['after_unknown']).toEqual({ tags: false });
  });

  /** A value with the marks of its parts, and the texts in it that are sensitive. */
  type Marked = { readonly value: unknown; readonly marks: unknown; readonly secrets: readonly string[] };

  let secrets = 0;
  const open: fc.Arbitrary<Marked> = fc
    .oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.constantFrom('open', ''))
    .map((value) => ({ value, marks: false, secrets: [] }));
  const secret: fc.Arbitrary<Marked> = fc.constantFrom('text', 'list', 'map').map((form) => {
    const text = `hush-${(secrets += 1)}-`;
    const value = form === 'text' ? text : form === 'list' ? [text, 1] : { [text]: { inner: text } };
    return { value, marks: true, secrets: [text] };
  });
  const { marked } = fc.letrec<{ marked: Marked }>((tie) => ({
    marked: fc.oneof(
      { maxDepth: 4 },
      open,
      secret,
      fc.array(tie('marked'), { maxLength: 4 }).map((items) => ({
        value: items.map(({ value }) => value),
        marks: items.map(({ marks }) => marks),
        secrets: items.flatMap((item) => item.secrets),
      })),
      fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'c'), tie('marked')).map((members) => ({
        value: Object.fromEntries(Object.entries(members).map(([key, { value }]) => [key, value])),
        marks: Object.fromEntries(Object.entries(members).map(([key, { marks }]) => [key, marks])),
        secrets: Object.values(members).flatMap((member) => member.secrets),
      })),
    ),
  }));

  it('contains no sensitive value, whatever its form', () => {
    fc.assert(
      fc.property(marked, marked, (was, is) => {
        const change = { before: was.value, after: is.value, before_sensitive: was.marks, after_sensitive: is.marks };
        const text = JSON.stringify(redactChange(change));
        for (const one of [...was.secrets, ...is.secrets]) expect(text).not.toContain(one);
      }),
    );
  });

  it('keeps values without marks', () => {
    fc.assert(
      fc.property(marked, marked, (was, is) => {
        const marks = { before_sensitive: false, after_sensitive: {} };
        const { before, after } = redactChange({ ...marks, before: was.value, after: is.value });
        expect(JSON.stringify([before, after])).toBe(JSON.stringify([was.value, is.value]));
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import { createEntryOf } from '../../libs/activity/audit-trail/spec.js';
import { EXPORT_FORMATS } from '../../libs/activity/audit-trail/formats/trail-formats.renderer.js';
import { auditedEvents, type AuditedEventRow } from '../docs/catalogue.js';
import { INSTALL_PYTHON_TIMEOUT_MS } from '../support/python.js';
import { parseCef, validateOcsf } from '../support/siem/index.js';

// Every kind of entry of the catalogue in the formats of SIEM systems, also the kinds that no request of a test causes.

/** The metadata of a kind of entry: with texts, with other values, and without any. */
const listMetadata = ({ meta }: AuditedEventRow) => {
  const fill = (value: unknown) => Object.fromEntries((meta ?? []).map((name) => [name, value]));
  return [null, ...['text', 7, false, null, ['a', null], [], { id: null, name: 'x' }].map(fill)];
};

const entries = auditedEvents.flatMap((row) =>
  listMetadata(row).flatMap((meta) => [
    createEntryOf(row.type, row.action, meta),
    createEntryOf(row.type, row.action, meta, { request: { id: null, address: null, user_agent: null } }),
    createEntryOf(row.type, row.action, meta, { request: { id: 'request-1' } }),
  ]),
);

const lines = async function* (): AsyncGenerator<string> {
  for (const entry of entries) yield `${JSON.stringify(entry)}\n`;
};

const convert = async (format: 'cef' | 'ocsf'): Promise<string> => {
  const texts: string[] = [];
  for await (const text of EXPORT_FORMATS[format].convert(lines())) texts.push(text);
  return texts.join('');
};

describe('every kind of entry', () => {
  it(
    'is a valid event of OCSF',
    async () => {
      const errors = await validateOcsf(await convert('ocsf'));
      expect(errors).toHaveLength(entries.length);
      const invalid = entries.flatMap(({ resource }, n) => (errors[n]?.length ? [[resource, errors[n]]] : []));
      expect(invalid).toEqual([]);
    },
    INSTALL_PYTHON_TIMEOUT_MS,
  );

  it('is a line of CEF', async () => {
    const parsed = await parseCef(await convert('cef'));
    const kinds = entries.map(({ resource: { type, action } }) => [`${type}.${action}`, type, action]);
    expect(parsed.map((fields) => [fields?.['DeviceEventClassID'], fields?.['resourceType'], fields?.['act']])).toEqual(
      kinds,
    );
  });

  it('is found invalid by the schema if a member is missing, null or unknown', async () => {
    const [first = ''] = (await convert('ocsf')).split('\n');
    const { metadata, ...event } = JSON.parse(first) as Record<string, unknown>;
    const broken = [event, { ...event, metadata, time: null }, { ...event, metadata, owner: 'x' }];
    const errors = await validateOcsf(broken.map((each) => `${JSON.stringify(each)}\n`).join(''));
    expect(errors.map((each) => each.length > 0)).toEqual([true, true, true]);
  });
});

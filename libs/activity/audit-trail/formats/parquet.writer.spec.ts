import { describe, expect, it } from '@jest/globals';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { createEntryOf } from '../spec.js';
import type { TrailEntry } from '../writing/trail-entry.js';
import { EXPORT_FORMATS } from './trail-formats.renderer.js';

const toLines = (entries: readonly unknown[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');

const iterate = async function* (texts: Iterable<string>): AsyncGenerator<string> {
  yield* texts;
};

const write = async (texts: Iterable<string>): Promise<ArrayBuffer> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of EXPORT_FORMATS.parquet.convert(iterate(texts))) pieces.push(piece as Uint8Array);
  const bytes = Buffer.concat(pieces);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
};

const toRow = ({ id, timestamp, auth, request, resource }: TrailEntry) => ({
  id,
  timestamp: new Date(timestamp),
  auth_accessor_id: auth.accessor_id,
  auth_description: auth.description,
  auth_type: auth.type,
  auth_impersonator_id: auth.impersonator_id,
  auth_organization_id: auth.organization_id,
  request_id: request.id,
  request_address: request.address,
  request_user_agent: request.user_agent,
  resource_id: resource.id,
  resource_type: resource.type,
  resource_action: resource.action,
  resource_meta: resource.meta,
});

describe('an export as a Parquet file', () => {
  it('has a row for each entry', async () => {
    const entries = [
      createEntryOf('workspace', 'lock', null, { request: { id: null, address: null, user_agent: null } }),
      createEntryOf('workspace', 'update', { attributes: ['name'], to: null, count: 3, nested: { 'é"\n': true } }),
      createEntryOf('run', 'create', { message: 'a|b=c\u0000' }, {}, 'Zoë 🙂'),
    ];
    expect(await parquetReadObjects({ file: await write([toLines(entries)]) })).toEqual(entries.map(toRow));
  });

  it('is a file without rows if there are no entries', async () => {
    const file = await write([]);
    expect(await parquetReadObjects({ file })).toEqual([]);
    expect(parquetMetadata(file).schema.map(({ name }) => name)).toEqual([
      'root',
      ...Object.keys(toRow(createEntryOf('a', 'b', null))),
    ]);
  });

  it('leaves out details of the client that the operator hides', async () => {
    const file = await write([toLines([createEntryOf('workspace', 'lock', null, { request: { id: 'request-1' } })])]);
    expect(await parquetReadObjects({ file })).toMatchObject([
      { request_id: 'request-1', request_address: null, request_user_agent: null },
    ]);
  });

  it('is written group by group while the entries are read', async () => {
    let read = 0;
    const texts = function* (): Generator<string> {
      for (; read < 25; read += 1) {
        const entries = Array.from({ length: 100 }, (_, n) =>
          createEntryOf('workspace', 'lock', { n: read * 100 + n }),
        );
        yield toLines(entries);
      }
    };
    const pieces: Uint8Array[] = [];
    const readBefore: number[] = [];
    for await (const piece of EXPORT_FORMATS.parquet.convert(iterate(texts()))) {
      pieces.push(piece as Uint8Array);
      readBefore.push(read);
    }
    expect(readBefore).toEqual([9, 19, 25, 25]);
    const bytes = Buffer.concat(pieces);
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    expect(parquetMetadata(file).row_groups.map(({ num_rows }) => num_rows)).toEqual([1_000n, 1_000n, 500n]);
    const rows = await parquetReadObjects({ file, columns: ['resource_meta'] });
    expect(rows.map(({ resource_meta }) => (resource_meta as { n: number }).n)).toEqual(
      Array.from({ length: 2_500 }, (_, n) => n),
    );
  });

  it('ends a group early if its entries are large', async () => {
    const large = toLines([createEntryOf('task', 'create', { text: 'x'.repeat(300_000) })]);
    const file = await write(Array.from({ length: 9 }, () => large));
    expect(parquetMetadata(file).row_groups.map(({ num_rows }) => num_rows)).toEqual([4n, 4n, 1n]);
  });
});

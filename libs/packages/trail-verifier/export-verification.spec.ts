import { describe, expect, it } from '@jest/globals';
import {
  createSampleLog,
  formatSampleExport,
  formatSampleProof,
  listSampleLines,
  signSampleCheckpoint,
  type SampleLine,
} from '../../../test/support/trail-log.js';
import { verifyExport, type ExportOptions, type ExportReport } from './export-verification.js';
import { LINE_MAX } from './line-splitter.js';
import { openCheckpoint } from './opened-checkpoints.js';
import { verifyProof } from './proof-verification.js';
import { formatProof, parseProof } from './proof-files.js';

const SIZE = 300;
const log = createSampleLog(SIZE);
const checkpoint = await signSampleCheckpoint(log);
const lines = await listSampleLines(log);
/** A log that its operator wrote again from entry 100 on, signed with the same key. */
const fork = createSampleLog(SIZE, { privateKey: log.privateKey, forkedAt: 100 });

async function* inChunks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) {
    yield await Promise.resolve(bytes.subarray(start, start + size));
  }
}

const verifyText = (text: string, options: Partial<ExportOptions> = {}, chunk = 1000): Promise<ExportReport> =>
  verifyExport(inChunks(text, chunk), { keys: [log.key], ...options });

const verifyLines = (changed: readonly object[], options: Partial<ExportOptions> = {}): Promise<ExportReport> =>
  verifyText(formatSampleExport(checkpoint, changed), options);

/** Gives the lines the indexes that their places have. */
const renumber = (list: readonly SampleLine[]): SampleLine[] => list.map((line, index) => ({ ...line, index }));

const alter = (index: number, change: (line: SampleLine) => object): object[] =>
  lines.map((line) => (line.index === index ? change(line) : line));

describe('an export', () => {
  it('is verified with all its entries', async () => {
    expect(await verifyLines(lines)).toMatchObject({
      checkpoint: { origin: log.origin, size: SIZE },
      entries: SIZE,
      first: 0,
      last: SIZE - 1,
      absent: 0,
      withheld: 0,
      since: null,
    });
  });

  it.each([1, 7, 100_000])('is verified in chunks of %i bytes', async (size) => {
    const text = formatSampleExport(checkpoint, lines.slice(290)).trimEnd();
    expect(await verifyText(text, {}, size)).toMatchObject({ entries: 10, first: 290, last: 299 });
  });

  it('is verified from a later entry on, because retention deletes the first ones', async () => {
    expect(await verifyLines(lines.slice(130))).toMatchObject({ entries: 170, first: 130, absent: 0 });
  });

  it('of an empty log is verified', async () => {
    const empty = createSampleLog(0);
    const text = formatSampleExport(await signSampleCheckpoint(empty), []);
    expect(await verifyText(text, { keys: [empty.key] })).toMatchObject({ entries: 0, first: null, last: null });
  });

  it('counts the values of forgotten people as withheld', async () => {
    const { salts: _, ...rest } = lines[3] as SampleLine;
    const forgotten = {
      ...rest,
      entry: { ...rest.entry, auth: { ...(rest.entry['auth'] as object), description: null } },
    };
    const salts = { '/request/ip-address': (lines[3] as SampleLine).salts['/request/ip-address'] };
    expect(await verifyLines(alter(3, () => ({ ...forgotten, salts })))).toMatchObject({ withheld: 1 });
    const identify = (description: string) => ({
      ...forgotten,
      entry: { ...rest.entry, auth: { ...(rest.entry['auth'] as object), description } },
    });
    const { accessor_id } = rest.entry['auth'] as { accessor_id: string };
    expect(await verifyLines(alter(3, () => ({ ...identify(accessor_id), salts })))).toMatchObject({ withheld: 1 });
    await expect(verifyLines(alter(3, () => ({ ...identify('user-bbbbbbbbbbbb'), salts })))).rejects.toThrow(
      'line 5: entry 3: /auth/description has a value, but no salt that proves it',
    );
    const address = { ...identify(accessor_id).entry, request: { 'ip-address': accessor_id } };
    await expect(verifyLines(alter(3, () => ({ ...rest, entry: address, salts: {} })))).rejects.toThrow(
      'line 5: entry 3: /request/ip-address has a value, but no salt that proves it',
    );
    await expect(verifyLines(alter(3, () => ({ ...rest, salts })))).rejects.toThrow(
      'line 5: entry 3: /auth/description has a value, but no salt that proves it',
    );
  });

  it.each<[string, object[], string, string]>([
    [
      'an altered member',
      alter(42, (line) => ({ ...line, entry: { ...line.entry, type: 'Other' } })),
      'altered',
      'line 44: entry 42 was altered',
    ],
    [
      'an altered personal value',
      alter(42, (line) => ({
        ...line,
        entry: { ...line.entry, auth: { ...(line.entry['auth'] as object), description: 'eve' } },
      })),
      'altered',
      'line 44: entry 42: the value of /auth/description is not the one that was recorded',
    ],
    [
      'another commitment with a fitting salt',
      alter(42, (line) => ({
        ...line,
        commitments: (lines[43] as SampleLine).commitments,
        salts: {},
        entry: { ...line.entry, auth: null, request: {} },
      })),
      'altered',
      'line 44: entry 42: a pointer names "description" of a value that is no object',
    ],
    [
      'an altered salt',
      alter(42, (line) => ({ ...line, salt: (lines[43] as SampleLine).salt })),
      'altered',
      'line 44: entry 42 was altered',
    ],
    [
      'an altered proof',
      alter(43, (line) => ({ ...line, proof: [...(line.proof ?? []).slice(0, -1), (line.proof ?? [])[0]] })),
      'altered',
      'line 45: entry 43 was altered',
    ],
    [
      'a longer proof',
      alter(43, (line) => ({ ...line, proof: [...(line.proof ?? []), line.salt] })),
      'altered',
      'line 45: entry 43 was altered',
    ],
    ['a removed entry', lines.toSpliced(42, 1), 'removed', 'line 44: entry 42 was removed'],
    ['many removed entries', lines.toSpliced(0 + 10, 280), 'removed', 'line 12: entries 10 to 289 were removed'],
    ['a removed entry and new indexes', renumber(lines.toSpliced(42, 1)), 'removed', 'line 44: entry 42 was removed'],
    [
      'entries removed at the end',
      lines.slice(0, -2),
      'removed',
      'the end of the file: entries 298 to 299 were removed',
    ],
    ['no entries', [], 'removed', 'the end of the file: entries 0 to 299 were removed'],
    [
      'an inserted entry',
      renumber(
        lines.toSpliced(42, 0, {
          ...(lines[42] as SampleLine),
          entry: { type: 'Forged', auth: {}, request: {} },
          salts: {},
        }),
      ),
      'inserted',
      'line 44: this entry is not in the log; it was inserted before entry 42',
    ],
    [
      'a repeated entry',
      lines.toSpliced(42, 0, lines[41] as SampleLine),
      'moved',
      'line 44: entry 41 is at the place of entry 42; it was moved or repeated',
    ],
    [
      'two entries in another order',
      lines.toSpliced(42, 2, lines[43] as SampleLine, lines[42] as SampleLine),
      'moved',
      'line 44: entry 43 was moved before entry 42',
    ],
    [
      'two entries in another order and new indexes',
      renumber(lines.toSpliced(42, 2, lines[43] as SampleLine, lines[42] as SampleLine)),
      'moved',
      'line 44: entry 43 was moved before entry 42',
    ],
    [
      'an entry moved to the front',
      renumber([lines[200] as SampleLine, ...lines.toSpliced(200, 1)]),
      'moved',
      'line 2: entry 200 was moved before entry 0',
    ],
    [
      'an altered last entry',
      alter(299, (line) => ({ ...line, entry: {}, salts: {} })),
      'altered',
      'line 301: entry 299',
    ],
  ])('with %s names the first difference', async (_, changed, problem, message) => {
    await expect(verifyLines(changed)).rejects.toMatchObject({
      name: 'TrailAlteredError',
      problem,
      message: expect.stringContaining(message) as unknown,
    });
  });

  it('names an altered entry before a line that cannot be read', async () => {
    const text = formatSampleExport(
      checkpoint,
      alter(42, (line) => ({ ...line, entry: {}, salts: {}, commitments: {} })),
    );
    const broken = text.split('\n').map((line, index) => (index === 44 ? '{' : line));
    await expect(verifyText(broken.join('\n'))).rejects.toThrow('line 44: entry 42 was altered');
  });

  it('that was filtered is verified with gaps, if the caller accepts them', async () => {
    const selected = lines.filter(({ index }) => index % 7 === 0);
    expect(await verifyLines(selected, { isFiltered: true })).toMatchObject({ entries: 43, absent: 257 });
    await expect(verifyLines(selected)).rejects.toThrow('line 3: entries 1 to 6 were removed');
    await expect(verifyLines(selected.toReversed(), { isFiltered: true })).rejects.toMatchObject({ problem: 'moved' });
    const altered = selected.map((line) => (line.index === 14 ? { ...line, salt: log.entries[0]?.salt } : line));
    await expect(verifyLines(altered, { isFiltered: true })).rejects.toThrow('line 4: entry 14 was altered');
  });

  it.each<[string, string, string]>([
    [
      'no checkpoint above',
      JSON.stringify(lines[0]),
      'line 1: must be a checkpoint, because entries refer to one above',
    ],
    ['nothing', '', 'the file has no line with a checkpoint'],
    ['an empty line', formatSampleExport(checkpoint, []) + '\n', 'line 2: must be JSON'],
    ['a byte order mark', `\ufeff${formatSampleExport(checkpoint, lines)}`, 'line 1: must be JSON'],
    ['another line', formatSampleExport(checkpoint, [[]]), 'line 2: must be a JSON object'],
    [
      'a member with a large letter',
      formatSampleExport(checkpoint, [{ ...lines[0], Index: 1 }]),
      'line 2: the names of members must have small letters, got "Index"',
    ],
    [
      'a member that folds to small letters',
      formatSampleExport(checkpoint, [{ ...lines[0], ſalt: 1 }]),
      'line 2: the names of members must have small letters',
    ],
    [
      'a negative index',
      formatSampleExport(checkpoint, [{ ...lines[0], index: -1 }]),
      'line 2: index: must be a whole number',
    ],
    [
      'no index',
      formatSampleExport(checkpoint, [{ ...lines[0], index: undefined }]),
      'line 2: index: must be a whole number',
    ],
    [
      'a proof of numbers',
      formatSampleExport(checkpoint, [{ ...lines[0], proof: [1] }]),
      'line 2: proof: must be a list of texts',
    ],
    [
      'an entry that is a text',
      formatSampleExport(checkpoint, [{ ...lines[0], entry: 'a' }]),
      'line 2: entry: must be an object',
    ],
    [
      'a short salt',
      formatSampleExport(checkpoint, [{ ...lines[0], salt: 'YQ==' }]),
      'line 2: entry 0: salt: must be 32 bytes in base64',
    ],
    [
      'more commitments than an entry can have',
      formatSampleExport(checkpoint, [
        {
          ...lines[0],
          commitments: Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`/${n}`, lines[0]?.salt])),
        },
      ]),
      'line 2: entry 0: commitments: must have at most 1000 JSON pointers, got 1001',
    ],
    [
      'a salt without a commitment',
      formatSampleExport(checkpoint, [{ ...lines[0], commitments: {} }]),
      'line 2: entry 0: salts: /auth/description has no commitment',
    ],
    [
      'a pointer without a slash',
      formatSampleExport(checkpoint, [{ ...lines[0], commitments: { a: lines[0]?.salt } }]),
      'line 2: entry 0: commitments: must have JSON pointers, got "a"',
    ],
    [
      'a member that occurs twice',
      formatSampleExport(checkpoint, lines).replace('"type":"Resource"', '"type":"Other","type":"Resource"'),
      'line 2: a member occurs twice',
    ],
    [
      'a number that others read differently',
      formatSampleExport(checkpoint, lines).replace('"index":0', '"index":0,"other":9007199254740993'),
      'line 2: has the number 9007199254740993, which JavaScript cannot represent',
    ],
    [
      'deep nesting',
      formatSampleExport(checkpoint, []) + '{"a":' + '['.repeat(600) + ']'.repeat(600) + '}',
      'line 2: is nested deeper than 500 levels',
    ],
    [
      'a line without an end',
      formatSampleExport(checkpoint, []) + 'x'.repeat(LINE_MAX + 1),
      `a line must have at most ${LINE_MAX} bytes`,
    ],
    ['a checkpoint that is no text', '{"checkpoint":1}', 'line 1: checkpoint: must be a text'],
    ...['index', 'entry', 'salt', 'commitments', 'salts', 'proof'].map((name): [string, string, string] => [
      `${name} beside a checkpoint`,
      JSON.stringify({ [name]: null, checkpoint }),
      `line 1: ${name}: must not be in a line with a checkpoint`,
    ]),
    ['a checkpoint that is no note', '{"checkpoint":"a"}', 'line 1: the checkpoint must be a signed note'],
  ])('with %s is refused', async (_, text, message) => {
    await expect(verifyText(text, {}, 1_000_000)).rejects.toMatchObject({
      name: 'TrailAlteredError',
      message: expect.stringContaining(message) as unknown,
    });
  });

  it('ignores other members', async () => {
    expect(await verifyLines(alter(5, (line) => ({ ...line, note_2: 'x' })))).toMatchObject({ entries: SIZE });
  });

  it('is refused if it is not UTF-8', async () => {
    const bytes = Buffer.from(formatSampleExport(checkpoint, lines));
    bytes[bytes.indexOf('Resource')] = 0xff;
    const chunks = inChunks('', 1);
    await expect(
      verifyExport(
        (async function* () {
          yield* chunks;
          yield bytes;
        })(),
        { keys: [log.key] },
      ),
    ).rejects.toThrow('line 2: must be UTF-8');
  });

  it('is refused with another key, a changed signature and another origin', async () => {
    const other = createSampleLog(1);
    await expect(verifyLines(lines, { keys: [other.key] })).rejects.toMatchObject({
      problem: 'signature',
      message: expect.stringContaining('no given key has signed') as unknown,
    });
    const changed = checkpoint.replace(`\n${SIZE}\n`, `\n${SIZE + 1}\n`);
    await expect(verifyText(formatSampleExport(changed, lines))).rejects.toMatchObject({ problem: 'signature' });
  });
});

describe('the checkpoints of an export', () => {
  const parts = async (sizes: readonly number[]): Promise<string> => {
    const texts = await Promise.all(
      sizes.map(async (size, position) => {
        const start = sizes[position - 1] ?? 0;
        return formatSampleExport(
          await signSampleCheckpoint(log, size),
          await listSampleLines(log, { start, end: size, size }),
        );
      }),
    );
    return texts.join('');
  };

  it('may be several, each of which extends the ones above', async () => {
    expect(await verifyText(await parts([1, 64, 100, 256, 300]))).toMatchObject({
      entries: 300,
      checkpoint: { size: 300 },
    });
  });

  it('show two histories', async () => {
    const text =
      formatSampleExport(await signSampleCheckpoint(log, 150), await listSampleLines(log, { end: 100, size: 150 })) +
      formatSampleExport(await signSampleCheckpoint(fork), await listSampleLines(fork, { start: 100 }));
    await expect(verifyText(text)).rejects.toMatchObject({
      problem: 'split-view',
      message: 'two histories were signed: the checkpoint of size 300 does not extend the checkpoint of size 150',
    });
  });

  it('show two histories of one size', async () => {
    const text =
      formatSampleExport(checkpoint, []) +
      formatSampleExport(await signSampleCheckpoint(fork), await listSampleLines(fork));
    await expect(verifyText(text)).rejects.toMatchObject({ problem: 'split-view' });
  });

  it('show a rollback and two logs', async () => {
    const smaller = formatSampleExport(await signSampleCheckpoint(log, 200), []);
    await expect(verifyText(formatSampleExport(checkpoint, []) + smaller)).rejects.toMatchObject({
      problem: 'rollback',
    });
    const other = createSampleLog(SIZE, { origin: 'cadastre.example.com/org-2' });
    const text = formatSampleExport(checkpoint, []) + formatSampleExport(await signSampleCheckpoint(other), []);
    await expect(verifyText(text, { keys: [log.key, other.key] })).rejects.toMatchObject({ problem: 'split-view' });
  });

  it.each([0, 1, 99, 100, 256, 299, 300])('extend a checkpoint of %i entries that was kept', async (size) => {
    const since = openCheckpoint(await signSampleCheckpoint(log, size), [log.key]);
    expect(await verifyLines(lines, { since })).toMatchObject({ since: { size } });
  });

  it.each([1, 99, 100, 256, 299])('of an export since a kept checkpoint of %i entries extend it', async (size) => {
    const since = openCheckpoint(await signSampleCheckpoint(log, size), [log.key]);
    expect(await verifyLines(lines.slice(size), { since })).toMatchObject({ first: size, since: { size } });
  });

  it('do not extend a checkpoint of another history', async () => {
    const since = openCheckpoint(await signSampleCheckpoint(fork, 120), [log.key]);
    await expect(verifyLines(lines, { since })).rejects.toMatchObject({ problem: 'split-view' });
    await expect(verifyLines(lines.slice(120), { since })).rejects.toMatchObject({ problem: 'split-view' });
    const before = openCheckpoint(await signSampleCheckpoint(fork, 100), [log.key]);
    expect(await verifyLines(lines, { since: before })).toMatchObject({ since: { size: 100 } });
  });

  it('are not compared with a kept one without an entry beside it', async () => {
    const since = openCheckpoint(await signSampleCheckpoint(log, 120), [log.key]);
    await expect(verifyLines(lines.slice(121), { since })).rejects.toMatchObject({
      name: 'TrailUnreadableError',
      message: expect.stringContaining('it has neither entry 119 nor entry 120') as unknown,
    });
  });
});

describe('a proof file', () => {
  const entry = (index: number): Buffer => Buffer.from(JSON.stringify(log.entries[index]?.entry));

  it('proves its entry, whatever the order of the members', async () => {
    const text = await formatSampleProof(log, 77);
    expect(verifyProof(text, { keys: [log.key], entry: entry(77) })).toMatchObject({ index: 77, withheld: 0 });
    const members = Object.entries(log.entries[77]?.entry ?? {}).toReversed();
    const reversed = Buffer.from(JSON.stringify(Object.fromEntries(members), null, 2));
    expect(verifyProof(text, { keys: [log.key], entry: reversed })).toMatchObject({ index: 77 });
  });

  it('proves no other entry, index or log', async () => {
    const text = await formatSampleProof(log, 77);
    const altered = expect.objectContaining({ name: 'TrailAlteredError', problem: 'altered' });
    expect(() => verifyProof(text, { keys: [log.key], entry: entry(78) })).toThrow(altered);
    expect(() => verifyProof(text.replace('index 77', 'index 78'), { keys: [log.key], entry: entry(77) })).toThrow(
      altered,
    );
    expect(() => verifyProof(text, { keys: [log.key], entry: Buffer.from('[]') })).toThrow(altered);
    expect(() => verifyProof(text, { keys: [log.key], entry: Buffer.from([0xff]) })).toThrow(altered);
    expect(() => verifyProof(text, { keys: [createSampleLog(1).key], entry: entry(77) })).toThrow(
      expect.objectContaining({ problem: 'signature' }),
    );
    expect(() => verifyProof('x', { keys: [log.key], entry: entry(77) })).toThrow(
      'the proof must be a proof whose first line is c2sp.org/tlog-proof@v1',
    );
  });

  it('without an opening proves the leaf itself', async () => {
    const bare = formatProof({ ...parseProof(await formatSampleProof(log, 5)), extra: null });
    expect(verifyProof(bare, { keys: [log.key], entry: log.leaves[5] as Buffer })).toMatchObject({ index: 5 });
  });
});

import { VERSION } from '#platform/host';
import { renderCef } from './cef.js';
import { renderOcsf } from './ocsf.js';
import { writeParquet } from './parquet.writer.js';
import type { ShownEntry } from './shown-entry.js';

/** A format of exports. `convert` gets complete lines of JSON, one for each entry. */
export type ExportFormat = {
  readonly mediaType: string;
  /** The end of a file's name. */
  readonly extension: string;
  readonly convert: (lines: AsyncIterable<string>) => AsyncIterable<string | Uint8Array>;
};

const parseLines = (text: string): readonly ShownEntry[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as ShownEntry);

const convertLines = (render: (entry: ShownEntry) => string) =>
  async function* (texts: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const text of texts)
      yield parseLines(text)
        .map((entry) => `${render(entry)}\n`)
        .join('');
  };

const JSON_LINES = 'application/x-ndjson';

export const EXPORT_FORMATS = {
  ndjson: { mediaType: JSON_LINES, extension: 'ndjson', convert: (lines) => lines },
  ocsf: {
    mediaType: JSON_LINES,
    extension: 'ocsf.ndjson',
    convert: convertLines((entry) => JSON.stringify(renderOcsf(entry, VERSION))),
  },
  cef: {
    mediaType: 'text/plain; charset=utf-8',
    extension: 'cef',
    convert: convertLines((entry) => renderCef(entry, VERSION)),
  },
  parquet: {
    mediaType: 'application/vnd.apache.parquet',
    extension: 'parquet',
    convert: (lines) => writeParquet(lines, parseLines),
  },
} as const satisfies Readonly<Record<string, ExportFormat>>;

export type ExportFormatName = keyof typeof EXPORT_FORMATS;
